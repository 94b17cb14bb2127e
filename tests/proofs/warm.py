"""Programs that are forked from a process which has imported their packages already.

A probe starts many servers, and imports are most of what a short one costs. ``serve`` is run by an
interpreter, which may be that of another environment; ``be`` stands for a program, which is given
its streams, folder, environment and arguments, and ends with its exit code. Where ``be`` ends
first, the program is ended. Only the standard library is used: in another environment nothing of
harness is installed.
"""

from __future__ import annotations

import array
import gc
import json
import os
import runpy
import select
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
def warm(
    python: Path, modules: Sequence[str], address: Path, path: Path | None = None
) -> Iterator[tuple[str, ...]]:
    """Yield what to write before a program's path or ``-m MODULE``, so that it is forked.

    The process that forks it runs ``python``, has imported ``modules``, from ``path`` too, and
    listens at ``address`` as long as the context lasts.
    """
    serving = [str(python), "-P", __file__, "serve", str(address), *modules]
    env = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
    pipe = subprocess.PIPE
    with subprocess.Popen(serving, stdin=pipe, stdout=pipe, env=env) as process:
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
        # Whoever started this process holds its stdin open, and may be killed.
        while sys.stdin.fileno() not in select.select([listening, sys.stdin], [], [])[0]:
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
    code: object = 1
    try:
        _run(program, arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        with suppress(OSError):
            link.sendall(bytes([code if isinstance(code, int) else 1]))
        os._exit(0)


def _run(program: str, arguments: list[str]) -> None:
    if program == "-m":
        module, *sys.argv[1:] = arguments
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [program, *arguments]
        sys.path.insert(0, str(Path(program).parent))
        runpy.run_path(program, run_name="__main__")


def _end_with(link: socket.socket) -> None:
    with suppress(OSError):
        link.recv(1)
    os.killpg(0, signal.SIGKILL)


def _be(address: str, command: Sequence[str]) -> None:
    """Lend this process's streams to a fork, and end when it ends, with its exit code."""
    link = socket.socket(socket.AF_UNIX)
    link.connect(address)
    request = json.dumps([command, str(Path.cwd()), dict(os.environ)]).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    link.sendmsg([len(request).to_bytes(_SIZE, "big")], rights)
    link.sendall(request)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # whoever reads is told when the fork closes them
        os.dup2(nothing, stream)
    code = b""
    with suppress(OSError):
        code = link.recv(1)
    os._exit(code[0] if code else 1)


if __name__ == "__main__":
    role, at, *rest = sys.argv[1:]
    if role == "serve":
        _serve(at, rest)
    else:
        _be(at, rest)
