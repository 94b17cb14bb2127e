"""Python programs that use the SDKs, forked from a process that has imported the SDKs already.

Importing the MCP SDK takes 0.7 s, and the tests start servers on it hundreds of times. `python` is
a script that stands for the interpreter: a program in a file (``server.py …``), ``-m servers.…``,
``-m tests.proofs.…`` and what harness itself starts on an SDK are forked, everything else is the
interpreter as it is.
Whoever starts it has a process with a session, streams, signals and an exit code; only the modules
are there before it begins. ``servers`` and ``tests.proofs`` are imported anew each time, so that a
changed copy is the copy. What is about Python's own start uses `sys.executable`.
"""

from __future__ import annotations

import array
import marshal
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.base.transports import load_tls_context
from tests.end_to_end.forked import become, run, settle

_STUB = Path(__file__).with_name("warm_stub.py")
_SCRIPT = """#!/bin/sh
case "$*" in
"-m servers."* | "-m tests.proofs."* | "-m harness.cli "* | \\
"-m harness.leaderboards.bfcl.server "* | \\
"-P -m harness.suites.in_python.server"* | "-P -m harness.web.worker") ;;
*) [ -f "$1" ] || exec '{python}' "$@" ;;
esac
exec '{python}' -I -S '{stub}' '{socket}' '{python}' "$@"
"""
_SDKS = ("uvicorn", "uvicorn.protocols.http.h11_impl", "sse_starlette", "jwt", "mcp.client.stdio")
_OURS = ("servers.data_governance.server", "servers.common.start", "servers.common.tokens")


class WarmPython:
    """The script, and the folder that it is in."""

    def __init__(self) -> None:
        """Write the script; `serve` makes it work."""
        self._folder = Path(tempfile.mkdtemp(prefix="warm-python-"))
        self.path = str(self._folder / "python")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        address = str(self._folder / "socket")
        self._listener.bind(address)
        self._listener.listen(128)
        script = _SCRIPT.format(python=sys.executable, stub=_STUB, socket=address)
        Path(self.path).write_text(script)
        Path(self.path).chmod(0o755)

    def close(self) -> None:
        """Let go of it in the process that does not serve."""
        self._listener.close()

    def serve(self, parent: int) -> Callable[[], None] | None:
        """Fork for each script that is started, until ``parent`` (a descriptor) is closed.

        Returns what is to be done in the child, ``None`` in the end.
        """
        _warm_up()
        wake, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._running: dict[int, socket.socket] = {}
        while True:
            connections = {one.fileno(): pid for pid, one in self._running.items()}
            incoming = self._listener.fileno()
            ready = select.select([parent, wake, incoming, *connections], [], [])[0]
            if parent in ready:
                shutil.rmtree(self._folder, ignore_errors=True)
                return None
            if wake in ready:
                os.read(wake, 4096)
                self._reap()
            for descriptor in connections.keys() & set(ready):
                self._pass_on(connections[descriptor])
            if incoming in ready:
                child = self._fork([parent, wake, woken])
                if child is not None:
                    return child

    def _reap(self) -> None:
        for pid in list(self._running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                connection = self._running.pop(pid)
                with suppress(OSError):  # perhaps nobody asks any more
                    connection.send(str(status).encode())
                connection.close()

    def _pass_on(self, pid: int) -> None:
        """Pass a signal on; where whoever stood for the program is gone, it is killed."""
        connection = self._running.get(pid)
        if connection is None:
            return
        try:
            got = connection.recv(1)
        except OSError:
            got = b""
        os.kill(pid, got[0] if got else signal.SIGKILL)
        if not got:
            os.waitpid(pid, 0)
            self._running.pop(pid).close()

    def _fork(self, inherited: list[int]) -> Callable[[], None] | None:
        connection = self._listener.accept()[0]
        try:
            message, ancillary, _, _ = connection.recvmsg(
                1_000_000, socket.CMSG_SPACE(3 * array.array("i").itemsize)
            )
        except OSError:
            message = b""
        if not message:
            connection.close()
            return None
        streams = array.array("i")
        streams.frombytes(ancillary[0][2])
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            arguments, folder, env = marshal.loads(message)
            sockets = [connection, self._listener, *self._running.values()]
            inherited += [one.detach() for one in sockets]
            become(dict(enumerate(streams)), inherited, env, folder)
            sys.executable = self.path  # what the program starts with it may be forked as well
            return lambda: _program(arguments, folder, env)
        for descriptor in streams:
            os.close(descriptor)
        self._running[pid] = connection
        return None


def _warm_up() -> None:
    for name in (*_SDKS, *_OURS):
        import_module(name)
    for name in [name for name in sys.modules if name.startswith(("servers", "tests.proofs"))]:
        del sys.modules[name]
    settle()


def _program(arguments: list[str], folder: str, env: dict[str, str]) -> None:
    """Run ``FILE ARGUMENTS…`` or ``[-P] -m MODULE ARGUMENTS…`` as the interpreter does."""
    first, *rest = arguments
    is_file = not first.startswith("-")
    if is_file:
        name, beside = first, [str(Path(first).resolve().parent)]
    else:
        safe = first == "-P"
        name, *rest = arguments[2 if safe else 1 :]
        beside = [] if safe else [folder]
    named = [entry for entry in env.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = list(dict.fromkeys([*beside, *named, *sys.path[1:]]))
    if any(variable.startswith("SSL_") for variable in env):
        load_tls_context.cache_clear()  # it was read for another environment

    def program() -> Any:
        if is_file:
            return runpy.run_path(name, run_name="__main__")
        return runpy.run_module(name, run_name="__main__", alter_sys=True)

    run(program, [name, *rest])
