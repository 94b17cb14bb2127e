"""`harness` processes, and `pytest` processes on suites, that are forked from one which has imported the SDKs already.

Importing `mcp` and a model's SDK takes 0.8 s of a run that takes 1.1 s, and the tests run harness
hundreds of times. What is forked is a process of its own in every respect: session, folder,
environment, streams, signals, exit. Only the modules are there before it begins. What depends on
how Python itself was started (`PYTHON…`, another locale) is started in the usual way, and so are
the tests of what a command imports and of an installed copy.
"""

from __future__ import annotations

import array
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

STARTED = ("PATH", "HOME", "LANG")
"""The environment that the parent of all is started with; the names are those of `Project`."""
_ANSWER_S = 60.0

Program: TypeAlias = Literal["harness", "pytest"]
"""What a forked process becomes."""


def fits(env: Mapping[str, str]) -> bool:
    """Whether a process with ``env`` may be forked: nothing in it concerns what was read before."""
    return env.get("LANG") == "C.UTF-8" and not any(
        name.startswith(("PYTHON", "LC_", "SSL_")) for name in env
    )


class WarmProcess(subprocess.Popen[str]):
    """A forked process behind the interface of `subprocess.Popen`, as far as tests use it."""

    def __init__(
        self,
        arguments: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        stdout: int | None = None,
        program: Program = "harness",
    ) -> None:
        """Fork one that runs ``program`` with ``arguments``; without ``stdout`` (a descriptor) it is piped."""
        self.args = list(arguments)
        self.stdin = None
        self.returncode: int | None = None
        self.text_mode = True
        self.encoding = self.errors = None
        self._communication_started = False
        self._child_created = True
        self._input = None
        self._waitpid_lock = threading.Lock()
        self._sigint_wait_secs = 0.25
        out_read, out_write = (None, stdout) if stdout is not None else os.pipe()
        err_read, err_write = os.pipe()
        self._status, status_write = os.pipe()
        try:
            request = {
                "program": program,
                "arguments": list(arguments),
                "cwd": str(cwd),
                "env": dict(env),
            }
            self.pid = _nursery().fork(request, (out_write, err_write, status_write))
        finally:
            for descriptor in (err_write, status_write, *([out_write] if stdout is None else [])):
                os.close(descriptor)
        self.stdout = None if out_read is None else open(out_read, encoding="utf-8")  # noqa: SIM115, PTH123
        self.stderr = open(err_read, encoding="utf-8")  # noqa: SIM115, PTH123

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        return self._reap(0.0)

    def _wait(self, timeout: float | None) -> int:
        code = self._reap(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _reap(self, timeout: float | None) -> int | None:
        with self._waitpid_lock:
            if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
                status = os.read(self._status, 16)
                os.close(self._status)
                self.returncode = os.waitstatus_to_exitcode(int(status))
        return self.returncode


class _Nursery:
    """The process that others are forked from; it ends with this one."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        with theirs:
            command = [sys.executable, "-m", "tests.end_to_end.warm", str(theirs.fileno())]
            root = Path(__file__).parents[2]
            env = {
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(root),
            }
            self._process = subprocess.Popen(
                command, env=env, pass_fds=[theirs.fileno()], cwd=root, stdin=subprocess.DEVNULL
            )
        self._lock = threading.Lock()

    def fork(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        with self._lock:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            self._socket.sendmsg([json.dumps(request).encode()], rights)
            self._socket.settimeout(_ANSWER_S)
            return int(self._socket.recv(64))


@cache
def _nursery() -> _Nursery:
    return _Nursery()


# ── The parent of all ────────────────────────────────────────────────────────────────────────


def _warm_up() -> None:
    from importlib import import_module

    from harness.cli import COMMANDS
    from harness.runlog.lines import _adapter
    from harness.trust_store import trusted

    heavy = (
        "openai",
        "anthropic",
        "mcp.client.session",
        "mcp.shared.jsonrpc_dispatcher",
        "harness.sessions.calls",
    )
    own = (
        "harness.sessions.transports.stdio",
        "harness.sessions.tool_list",
        "harness.models.openai",
        "harness.models.lexical",
    )
    for module in (
        *heavy,
        *own,
        *(f"harness.cli.commands.{name.replace('-', '_')}" for name in COMMANDS),
    ):
        import_module(module)
    _adapter()
    trusted()
    import_module("pytest")


def _serve(requests: socket.socket) -> dict[str, Any] | None:
    """Fork for each request until the other side is gone; return the request in the child, ``None`` in the end."""
    statuses: dict[int, int] = {}
    while True:
        ready = select.select([requests], [], [], 0.02 if statuses else None)[0]
        for pid in list(statuses):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _tell(statuses.pop(pid), status)
        if not ready:
            continue
        message, ancillary, _, _ = requests.recvmsg(
            1_000_000, socket.CMSG_SPACE(3 * array.array("i").itemsize)
        )
        if not message:
            return None
        descriptors = array.array("i")
        descriptors.frombytes(ancillary[0][2])
        out, err, status_write = descriptors
        pid = os.fork()
        if pid == 0:
            os.close(status_write)
            return _become(json.loads(message), out, err, [requests.fileno(), *statuses.values()])
        os.close(out)
        os.close(err)
        statuses[pid] = status_write
        requests.send(str(pid).encode())


def _tell(descriptor: int, status: int) -> None:
    with suppress(BrokenPipeError):  # perhaps nobody asks any more
        os.write(descriptor, str(status).encode())
    os.close(descriptor)


def _become(
    request: dict[str, Any], out: int, err: int, inherited: Sequence[int]
) -> dict[str, Any]:
    os.setsid()
    for number, descriptor in ((1, out), (2, err)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    # As Python makes them at its start, for what they are now: a file, a pipe.
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    for descriptor in inherited:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    return request


def main() -> None:
    """Serve until the other end closes, then end; in a child, be the program."""
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        _warm_up()
        request = _serve(requests)
        requests.detach() if request is not None else None
    if request is None:
        return
    sys.modules["__main__"].__spec__ = sys.modules["__main__"].__package__ = (
        None  # as for ``python -c``
    )
    if request["program"] == "pytest":
        import pytest

        sys.argv = ["pytest", *request["arguments"]]
        sys.path[0] = request["cwd"]  # as for ``python -m pytest``
        sys.exit(pytest.main())
    from harness.cli import main as harness

    sys.argv = ["-c", *request["arguments"]]
    harness()


if __name__ == "__main__":
    main()
