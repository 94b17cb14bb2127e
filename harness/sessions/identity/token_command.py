"""Tokens from a command of the user, for servers that do not accept harness's own issuer.

The command runs without a shell, reads the ``user_context`` as JSON on stdin and prints the token.
Its environment has the variables that it needs to run and to reach an identity provider
(`INHERITED`), and those that the configuration names (``token_env``), but no keys of models or
other secrets.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress

import anyio
from anyio.abc import ByteReceiveStream, Process

from harness.base import ServerError
from harness.sessions.processes.guardian import Guardian
from harness.sessions.processes.process import INHERITED as SERVER_INHERITED
from harness.sessions.processes.server_input import wait_closed
from harness.sessions.processes.stderr import extract_informative_lines
from harness.types import JsonObject

_PROXIES = ("all_proxy", "http_proxy", "https_proxy", "no_proxy")

INHERITED = (
    *SERVER_INHERITED,
    *("LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"),
    *("SSL_CERT_DIR", "SSL_CERT_FILE"),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *_PROXIES,
    *map(str.upper, _PROXIES),
)
"""Environment variables for the command: those of a server, and those for caches, settings,
certificates and proxies."""

COMMAND_S = 15.0
"""Seconds that the command may take: it may contact a remote identity provider."""

MAX_BYTES = 65_536
"""Largest token, and largest part of stderr, that is read; no HTTP header is that long."""

REAP_S = 2.0
"""Seconds to wait for the end of a killed command."""

_TOKEN = re.compile(r"[\x21-\x7e]+")
_KEPT_LINES = 5


async def run_token_command(
    command: str,
    user_context: JsonObject,
    guardian: Guardian,
    cwd: str | None = None,
    variables: Sequence[str] = (),
) -> str:
    """Return what ``command`` prints: the token of ``user_context``.

    ``variables`` are names of environment variables that it gets beside `INHERITED`.

    Raises:
        ServerError: it could not be run, failed, took longer than `COMMAND_S` or printed no token.
            No message contains its stdout.
    """
    if unset := [name for name in variables if name not in os.environ]:
        message = f"the token_command cannot be run: {', '.join(unset)} of its token_env is not set"
        raise ServerError(message)
    with anyio.CancelScope(shield=True):  # every started process must be tracked
        process = await _start_command(command, cwd, guardian, {*INHERITED, *variables})
        guardian.watch_group(process.pid)
    out, err = bytearray(), bytearray()
    try:
        with anyio.move_on_after(COMMAND_S) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_write_input, process, json.dumps(dict(user_context)).encode())
                tasks.start_soon(_collect_output, process.stdout, out)
                tasks.start_soon(_collect_output, process.stderr, err)
            await process.wait()
    finally:
        await _end_command(process, guardian)
    tail = "\n".join(err.decode("utf-8", "replace").strip().splitlines()[-_KEPT_LINES:])
    if scope.cancelled_caught:
        raise ServerError(f"the token_command did not end within {COMMAND_S:g} s", stderr_tail=tail)
    if process.returncode:
        why = "".join(f"; its last words: {cause}" for cause in extract_informative_lines(tail)[:1])
        message = f"the token_command ended with exit code {process.returncode}{why}"
        raise ServerError(message, stderr_tail=tail)
    return _parse_token(bytes(out), tail)


async def _start_command(
    command: str, cwd: str | None, guardian: Guardian, variables: Iterable[str]
) -> Process:
    try:
        await guardian.start()
        return await anyio.open_process(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={name: os.environ[name] for name in variables if name in os.environ},
            # The command leads a process group, so that its child processes can be ended with it.
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ServerError(f"the token_command could not be started: {error}") from error


async def _write_input(process: Process, data: bytes) -> None:
    assert process.stdin is not None
    with suppress(anyio.BrokenResourceError, OSError):  # it need not read its stdin
        await process.stdin.send(data)
    with suppress(anyio.BrokenResourceError, OSError):
        await process.stdin.aclose()


async def _collect_output(stream: ByteReceiveStream | None, kept: bytearray) -> None:
    assert stream is not None
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            # Reads on beyond the limit, or the command would block on a full pipe; one byte too
            # many tells that the token is too long.
            kept += (await stream.receive())[: MAX_BYTES + 1 - len(kept)]


async def _end_command(process: Process, guardian: Guardian) -> None:
    """End the command and its child processes."""
    with anyio.CancelScope(shield=True):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        # Only after the signal, because harness may be killed in between.
        guardian.release_group(process.pid)
        with anyio.move_on_after(REAP_S):
            await process.aclose()
            assert process.stdin is not None
            await wait_closed(process.stdin)


def _parse_token(out: bytes, tail: str) -> str:
    """Return the token; for invalid output, raise an error that describes only the problem."""
    text = out.decode("utf-8", "replace").strip()
    if not text:
        problem = "printed nothing"
    elif len(out) > MAX_BYTES:
        problem = f"printed more than {MAX_BYTES:,} bytes"
    elif not _TOKEN.fullmatch(text):
        problem = "printed no valid token: it must be one word of visible ASCII characters"
    else:
        return text
    raise ServerError(f"the token_command {problem}", stderr_tail=tail)
