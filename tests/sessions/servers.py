"""The servers that these tests start, and a look at the processes that are left of them."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from harness.sessions.session import Session
from harness.types import ServerSpec, ToolCall, ToolRequest
from tests.clock import BOUND_S, PATIENT_S
from tests.support import a_server

HERE = Path(__file__).parent
BAD_SERVER = HERE / "bad_server.py"
GOOD_SERVER = HERE / "good_server.py"

ServerFactory = Callable[..., ServerSpec]


def bad_server(mode: str, marker: str, **settings: Any) -> ServerSpec:
    """Return a server that fails as ``mode`` says, quickly."""
    defaults: dict[str, Any] = {
        "name": mode,
        "command": sys.executable,
        "args": ("-I", "-S", str(BAD_SERVER), mode, marker),
        "protocol": "legacy",
        "start_timeout_s": PATIENT_S,
        "call_timeout_s": PATIENT_S,
    }
    return a_server(**{**defaults, **settings})


def alive(marker: str) -> list[str]:
    """Return the command lines of all processes that carry ``marker``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
        except OSError:
            continue
        if marker in command:
            found.append(command)
    return found


def all_gone(marker: str, *, within_s: float = BOUND_S) -> bool:
    """Wait until no process carries ``marker``; return whether that came true."""
    deadline = time.monotonic() + within_s
    while alive(marker):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def all_there(marker: str, number: int, *, within_s: float = BOUND_S) -> bool:
    """Wait until so many processes carry ``marker``.

    One that is just being started shows no command line.
    """
    deadline = time.monotonic() + within_s
    while len(alive(marker)) != number:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


async def call(session: Session, tool: str, arguments: dict[str, Any] | None = None) -> ToolCall:
    """Call a tool the way a trial does."""
    request = ToolRequest(id=f"call-{tool}", tool=tool, arguments=arguments or {})
    with anyio.fail_after(BOUND_S):
        return await session.call(request, reply=1, epoch=anyio.current_time())


async def calls_until_answered(session: Session) -> int:
    """Call ``echo`` until it is answered in time, as it is at once where the machine is not busy.

    Return how many calls that took.
    """
    with anyio.fail_after(BOUND_S):
        for number in itertools.count(1):
            made = await call(session, "echo")
            if made.outcome == "ok":
                return number
            assert made.outcome == "timeout"
    raise AssertionError
