"""Programs of another environment, forked from a process that has imported their packages already.

A probe starts many servers, and imports are most of what a short one costs. ``serve`` is run by the
interpreter of that environment; ``be`` stands for a program, which is given its streams, folder,
environment and arguments. Where ``be`` ends first, the program is ended. Only the standard library
is used, for nothing of harness is installed there.
"""

from __future__ import annotations

import array
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

_SIZE = 4
"""Bytes that say how long a request is."""


@contextmanager
def warm(python: Path, modules: Sequence[str], address: Path) -> Iterator[tuple[str, ...]]:
    """Yield what to write before a program's path, so that it is forked from ``python``.

    That process has imported ``modules`` and listens at ``address`` as long as the context lasts.
    """
    serving = [str(python), __file__, "serve", str(address), *modules]
    with subprocess.Popen(serving, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            if process.stdout.readline() != b"ready\n":
                raise RuntimeError(f"{python} cannot import {', '.join(modules)}")
            yield sys.executable, "-I", "-S", __file__, "be", str(address)
        finally:
            process.terminate()


def _serve(address: str, modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            link, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _become(link)
            link.close()


def _become(link: socket.socket) -> None:
    """Be the program that the other end of ``link`` stands for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    streams = array.array("i")
    size, rights, *_ = link.recvmsg(_SIZE, socket.CMSG_LEN(3 * streams.itemsize))
    streams.frombytes(rights[0][2])
    request = link.makefile("rb").read(int.from_bytes(size, "big"))
    (program, *arguments), folder, environment = json.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_end_with, args=(link,), daemon=True).start()
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(0)


def _end_with(link: socket.socket) -> None:
    with suppress(OSError):
        link.recv(1)
    os.killpg(0, signal.SIGKILL)


def _be(address: str, command: Sequence[str]) -> None:
    """Lend this process's streams to a fork, and last as long as it does."""
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    request = json.dumps([command, str(Path.cwd()), dict(os.environ)]).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    link.sendmsg([len(request).to_bytes(_SIZE, "big")], rights)
    link.sendall(request)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # whoever reads is told when the fork closes them
        os.dup2(nothing, stream)
    with suppress(OSError):
        link.recv(1)


if __name__ == "__main__":
    role, at, *rest = sys.argv[1:]
    if role == "serve":
        _serve(at, rest)
    else:
        _be(at, rest)
