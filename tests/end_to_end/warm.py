"""`harness` processes, and `pytest` processes on suites, that are forked from one which has
imported the SDKs already.

Importing `mcp` and a model's SDK takes 0.8 s of a run that takes 1.1 s, and the tests run harness
hundreds of times. What is forked is a process of its own in every respect: session, folder,
environment, streams, signals, exit. Only the modules are there before it begins. What depends on
how Python itself was started (`PYTHON…`, another locale) is started in the usual way, and so are
the tests of what a command imports and of an installed copy.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rich.cells import cell_len

from tests.end_to_end.forked import become, run, settle
from tests.end_to_end.warm_python import WarmPython

STARTED = ("PATH", "HOME", "LANG")
"""The environment that the parent of all is started with; the names are those of `Project`."""
_ANSWER_S = 120.0
_SHARED = "TESTS_NURSERY"
"""The variable that tells the workers of pytest the address of the nursery they share."""

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
        """Fork one that runs ``program`` with ``arguments``.

        Without ``stdout`` (a descriptor) it is piped.
        """
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


class Nursery:
    """A process that others are forked from, for whoever connects to its address.

    It imports what it shares when the first one connects, and ends with the process that started
    it.
    """

    def __init__(self) -> None:
        """Start it; connections are taken at once, and answered when it is ready."""
        self.address = str(Path(tempfile.mkdtemp(prefix="nursery-")) / "socket")
        started_by, self._ours = os.pipe()
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self.address)
            listener.listen(64)
            handed = [listener.fileno(), started_by]
            root = Path(__file__).parents[2]
            env = {
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(root),
            }
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.end_to_end.warm", *map(str, handed)],
                env=env,
                pass_fds=handed,
                cwd=root,
                stdin=subprocess.DEVNULL,
            )
        os.close(started_by)

    def close(self) -> None:
        """End it; what was forked from it stays."""
        os.close(self._ours)
        try:
            self.process.wait(_ANSWER_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def share() -> Nursery:
    """Start one nursery for this process and all that it starts, as the workers of pytest."""
    nursery = Nursery()
    os.environ[_SHARED] = nursery.address
    return nursery


class _Connection:
    """One side of a conversation with a nursery."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(_ANSWER_S)
        try:
            self._socket.connect(address)
            self.python = self._answer()
        except OSError:
            self._socket.close()
            raise
        atexit.register(self.close)

    def fork(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        with self._lock:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            self._socket.sendmsg([json.dumps(request).encode()], rights)
            return int(self._answer())

    def close(self) -> None:
        self._socket.close()

    def _answer(self) -> str:
        answer = self._socket.recv(4096).decode()
        if not answer:
            raise ConnectionResetError("the process that others are forked from has ended")
        return answer


def warm_python() -> str:
    """Return the command that stands for the interpreter, for servers that need an SDK.

    See `warm_python.py`.
    """
    return _nursery().python


@cache
def _nursery() -> _Connection:
    """Connect to the nursery that is shared, or else to one of this process alone."""
    with suppress(KeyError, OSError):
        return _Connection(os.environ[_SHARED])
    return _Connection(_own_nursery().address)


@cache
def _own_nursery() -> Nursery:
    nursery = Nursery()
    atexit.register(nursery.close)
    return nursery


# ── The parent of all ────────────────────────────────────────────────────────────────────────


_LATER = (
    "anthropic",
    "anyio._backends._asyncio",
    "anyio._core._signals",
    "anyio._core._subprocesses",
    "concurrent.futures.thread",
    "genai_prices.data",
    "mcp.client.session",
    "mcp.shared.jsonrpc_dispatcher",
    "openai",
    "pytest",
    "rich.logging",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
)
"""What harness and servers on the SDK import when they first need it."""


def _warm_up() -> None:
    from importlib import import_module
    from pkgutil import walk_packages

    import harness
    from harness.base.transports import load_tls_context
    from harness.runlog.lines import _get_adapter

    own = (module.name for module in walk_packages(harness.__path__, "harness."))
    for module in (*_LATER, *own):
        # The entry point is no module to share: its import takes Ctrl-C over for the whole process.
        if not module.endswith(".__main__") and module != "harness.entry":
            import_module(module)
    _get_adapter()
    load_tls_context()
    cell_len("字")  # reads the table of widths


def _serve(
    listener: socket.socket, started_by: int, ours: int, python: str
) -> dict[str, Any] | None:
    """Fork for each request until the process that started this one is gone.

    Return the request in the child, ``None`` in the end.
    """
    statuses: dict[int, int] = {}
    askers: dict[int, socket.socket] = {}
    while True:
        watched = [listener.fileno(), started_by, *askers]
        ready = select.select(watched, [], [], 0.02 if statuses else None)[0]
        for pid in list(statuses):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _tell(statuses.pop(pid), status)
        if started_by in ready:
            return None
        for asker in [askers[number] for number in ready if number in askers]:
            asked = _received(asker)
            if asked is None:
                del askers[asker.fileno()]
                asker.close()
                continue
            request, (out, err, status_write) = asked
            pid = os.fork()
            if pid == 0:
                os.close(status_write)
                sockets = [listener.detach(), *(one.detach() for one in askers.values())]
                inherited = [*sockets, started_by, ours, *statuses.values()]
                become({1: out, 2: err}, inherited, request["env"], request["cwd"])
                return request
            os.close(out)
            os.close(err)
            statuses[pid] = status_write
            _answer(asker, str(pid))
        if listener.fileno() in ready:
            asker = listener.accept()[0]
            askers[asker.fileno()] = asker
            _answer(asker, python)


def _received(asker: socket.socket) -> tuple[dict[str, Any], array.array[int]] | None:
    """Return a request and its descriptors, ``None`` where nobody asks any more."""
    try:
        message, ancillary, _, _ = asker.recvmsg(
            1_000_000, socket.CMSG_SPACE(3 * array.array("i").itemsize)
        )
    except OSError:
        return None
    if not message:
        return None
    descriptors = array.array("i")
    descriptors.frombytes(ancillary[0][2])
    return json.loads(message), descriptors


def _answer(asker: socket.socket, answer: str) -> None:
    with suppress(OSError):  # whoever is gone is let go of when it is read from
        asker.send(answer.encode())


def _tell(descriptor: int, status: int) -> None:
    with suppress(BrokenPipeError):  # perhaps nobody asks any more
        os.write(descriptor, str(status).encode())
    os.close(descriptor)


def main() -> None:
    """Serve until whoever started this is gone, then end; in a child, be the program."""
    descriptor, started_by = map(int, sys.argv[1:])
    listener = socket.socket(fileno=descriptor)
    folder = Path(listener.getsockname()).parent
    if descriptor not in select.select([descriptor, started_by], [], [])[0]:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    _warm_up()
    settle()
    python = WarmPython()
    alive, ours = os.pipe()
    if os.fork() == 0:
        os.close(listener.detach())
        os.close(started_by)
        os.close(ours)
        program = python.serve(alive)
        return None if program is None else program()
    os.close(alive)
    python.close()
    request = _serve(listener, started_by, ours, python.path)
    if request is None:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    sys.executable = python.path
    sys.modules["__main__"].__spec__ = sys.modules["__main__"].__package__ = (
        None  # as for ``python -c``
    )
    if request["program"] == "pytest":
        import pytest

        sys.path[0] = request["cwd"]  # as for ``python -m pytest``
        return run(lambda: sys.exit(pytest.main()), ["pytest", *request["arguments"]])
    from harness.cli import main as harness

    return run(harness, ["-c", *request["arguments"]])


if __name__ == "__main__":
    main()
