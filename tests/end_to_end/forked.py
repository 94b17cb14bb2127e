"""How a forked process becomes a program of its own, and ends."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

_LARGE = 2 << 20
_MADV_COLLAPSE = 25
"""Known to Linux since 6.1; where it is not, pages stay as they are."""


def settle() -> None:
    """Set aside what is in memory: whoever is forked later neither looks at it nor copies it."""
    gc.collect()
    gc.freeze()
    _gather()


def _gather() -> None:
    """Put what is in memory into large pages: 80 of them are shared with a forked process in less
    time than 40,000 small ones, which is most of what a short process costs.
    """
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in maps.read_text().splitlines():
        span, rights, *of = line.split(maxsplit=5)
        if rights == "rw-p" and of[3:] in ([], ["[heap]"]):  # of no file
            first, last = (int(place, 16) for place in span.split("-"))
            for place in range(-(-first // _LARGE) * _LARGE, last - _LARGE + 1, _LARGE):
                madvise(place, _LARGE, _MADV_COLLAPSE)


def become(
    streams: Mapping[int, int], inherited: Iterable[int], env: Mapping[str, str], folder: str
) -> None:
    """Take the streams (number → descriptor), the environment and the folder of the program."""
    os.setsid()
    # Whoever runs the tests may have these ignored: nohup, a script that runs them behind it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for number, descriptor in streams.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    # As Python makes them at its start, for what they are now: a file, a pipe.
    if 0 in streams:
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    if env.get("PYTHONUNBUFFERED"):
        sys.stdout.reconfigure(write_through=True)
    for descriptor in inherited:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.chdir(folder)


def run(program: Callable[[], object], arguments: Sequence[str]) -> None:
    """Run ``program`` with ``sys.argv`` and leave as Python does, without taking down what was
    there before the fork.

    To take that down costs 0.1 s. Threads are waited for, and what the program itself left behind
    is collected, so that whatever Python has to say of it is said.
    """
    sys.argv = list(arguments)
    code: object = 0
    try:
        program()
    except SystemExit as ended:
        code = ended.code or 0
        if not isinstance(code, int):
            raise
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))  # type: ignore[call-overload]
