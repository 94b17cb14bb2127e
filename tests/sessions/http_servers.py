"""The web servers that these tests reach.

One that misbehaves by path and tool, shared by a module.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import SystemRandom
from typing import Any

from harness.sessions import calls
from harness.sessions import tool_list as listing
from harness.sessions.transports import sse
from harness.sessions.transports import streamable_http as http
from harness.types import ServerSpec
from tests.clock import BOUND_S, PATIENT_S
from tests.sessions.servers import HERE
from tests.support import a_server

SDK = (calls, http, listing, sse)
"""Loaded here: a busy machine takes seconds for it, and no test is about that."""

NOT_ASSIGNED = range(20_000, 32_000)
"""Ports that no system gives to a program which does not ask for one by its number."""

BAD_HTTP_SERVER = HERE / "bad_http_server.py"


class Running:
    """A server that runs already."""

    def __init__(self, port: int) -> None:
        self.port = port

    def at(self, path: str, **settings: Any) -> ServerSpec:
        """Return how to reach it at ``path``."""
        defaults: dict[str, Any] = {
            "name": "shop",
            "transport": "http",
            "url": f"http://127.0.0.1:{self.port}/{path}",
            "protocol": "2026-07-28",
            "start_timeout_s": PATIENT_S,
            "call_timeout_s": PATIENT_S,
        }
        return a_server(**{**defaults, **settings})

    def seen(self, path: str) -> list[dict[str, Any]]:
        """Return the requests that came to ``path``."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/seen", timeout=BOUND_S
        ) as response:
            return [
                request for request in json.load(response) if request["path"].startswith(f"/{path}")
            ]


def free_port() -> int:
    """Return a port on which nobody listens, and which no other program is given meanwhile."""
    with socket.socket() as probe:
        while True:
            port = SystemRandom().choice(NOT_ASSIGNED)
            with suppress(OSError):  # it is taken
                probe.bind(("127.0.0.1", port))
                return port


@contextmanager
def running(*command: str) -> Iterator[Running]:
    """Run a server for the length of the block, the bad one unless another is given."""
    port = free_port()
    with subprocess.Popen(
        [sys.executable, *(command or ("-I", "-S", str(BAD_HTTP_SERVER)))],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_for(port)
            yield Running(port)
        finally:
            process.kill()


def wait_for(port: int) -> None:
    """Wait until somebody listens on ``port``."""
    deadline = time.monotonic() + BOUND_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=BOUND_S).close()
        except OSError:
            time.sleep(0.01)
        else:
            return
    raise TimeoutError(f"nobody listens on port {port}")


def started(mode: str, marker: str, **settings: Any) -> ServerSpec:
    """Return a bad server that harness starts."""
    defaults: dict[str, Any] = {
        "name": mode,
        "command": sys.executable,
        "args": ("-I", "-S", str(BAD_HTTP_SERVER), mode, marker),
        "transport": "http",
        "protocol": "2026-07-28",
        "start_timeout_s": PATIENT_S,
        "call_timeout_s": PATIENT_S,
    }
    return a_server(**{**defaults, **settings})
