"""A server's stderr: read continuously, so that the server never blocks; its end is kept.

`extract_informative_lines` leaves out a line that does not explain the end of the server: frames
and source lines of a traceback, carets, rulers, and additions of language runtimes (``Node.js
v22.1.0``, ``note: run with RUST_BACKTRACE=1``). The cause, which comes first, is

1. the last line that a runtime writes of an error which nobody caught: the exception of a Python
   traceback, ``Error: …`` of node, ``Caused by: …`` of Java, ``panic: …`` of Go, ``panicked at`` of
   Rust;
2. else the first of the last lines that speaks of a failure: ``error``, ``cannot``, ``not found``,
   ``denied`` …;
3. else the last line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import anyio

from harness.base import KNOWN

KEPT_BYTES = 16_384
"""Bytes kept from the end: enough for a traceback, small enough for a log line."""

REST_S = 0.1
"""Longest pause in seconds between two reads: many servers write a line for each call, and waking
up for each would be costly. The pause doubles up to this value while little is written."""

_FIRST_REST_S = 0.001
_READ_BYTES = 65_536
_MUCH_BYTES = 16_384


class StderrTail:
    """Reads the pipe of a server's stderr and keeps its end."""

    def __init__(self, fd: int) -> None:
        """Take over the reading end ``fd``."""
        os.set_blocking(fd, False)
        self._fd: int | None = fd
        self._kept = b""

    async def read_continuously(self) -> None:
        """Read continuously until the other end closes the pipe."""
        rest_s = _FIRST_REST_S
        while self._fd is not None:
            await anyio.wait_readable(self._fd)
            count = self._drain()
            if count is None:
                return
            # The pipe of a server that writes much must not fill up, or the server would be slowed
            # down.
            rest_s = _FIRST_REST_S if count >= _MUCH_BYTES else min(2 * rest_s, REST_S)
            await anyio.sleep(rest_s)

    def get_text(self) -> str:
        """Return the last lines written so far, at most `KEPT_BYTES`, without known secrets."""
        # What came since the last pause may be the reason why this is asked.
        self._drain()
        kept = self._kept
        # The limit has cut the first line, and half a secret in it would not be redacted.
        if len(kept) == KEPT_BYTES:
            kept = kept[kept.find(b"\n") + 1 :]
        return KNOWN.redact_text(kept.decode("utf-8", "replace").strip("\n"))

    def close(self) -> None:
        """Read the rest of the pipe and close it."""
        self._drain()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _drain(self) -> int | None:
        """Read once without waiting; return the number of bytes, ``None`` at the end."""
        if self._fd is None:
            return None
        try:
            data = os.read(self._fd, _READ_BYTES)
        except BlockingIOError:
            return 0
        self._kept = (self._kept + data)[-KEPT_BYTES:]
        return len(data) or None


MAX_LINES = 5
"""Most lines that are returned."""

_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_GROUP_MARGIN = re.compile(r"^\s*\|\s?")
"""The prefix of lines in an exception group's members."""
_TRACEBACK = re.compile(r"^(?:\+ Exception Group )?Traceback \(most recent call last\):$")
_NOISE = re.compile(
    r"^\s*(?:"
    r"at\s.*|File \".*\", line \d+.*|[-=*#~^_+|.\s\d]*|[\[\](){};,\s]*|"
    r"(?:node:|file:///|/)\S+:\d+(?::\d+)?(?: \+0x\w+)?|throw err;|"
    r"Node\.js v\d.*|note: run with `?RUST_BACKTRACE.*|goroutine \d+ .*|exit status \d+|\.\.\. \d+ "
    r"more|"
    r"(?:npm (?:ERR!|error))(?:\s+A complete log of this run.*|\s+\S*/_logs/.*)?|"
    r"During handling of the above exception.*|The above exception was the direct cause.*"
    r")$"
)
_UNCAUGHT = re.compile(
    r"^\s*(?:\[cause\]: |Uncaught )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?(?:: |$)"
    r"|^\s*Error(?: \[\w+\])?: |^Caused by: |^Exception in thread |^panic: |^thread '.*' "
    r".*panicked at "
)
_FAILURE = re.compile(
    r"\b(?:errors?|err!|exceptions?|fatal|fail(?:ed|s|ure)?|cannot|can't|could "
    r"not|couldn't|unable|invalid|missing|"
    r"required|denied|refused|not found|no such|not set|unknown|unrecogni[sz]ed|already in "
    r"use|unsupported)\b",
    re.IGNORECASE,
)


def extract_informative_lines(tail: str) -> list[str]:
    """Return the last `MAX_LINES` informative lines of ``tail``, the cause first; may be empty."""
    found = list(_iterate_informative_lines(tail))
    if not found:
        return []
    told = [line for line, _ in found]
    place = next((at for at in reversed(range(len(told))) if found[at][1]), None)
    if place is None:
        last = range(max(0, len(told) - MAX_LINES), len(told))
        place = next((at for at in last if _FAILURE.search(told[at])), len(told) - 1)
    others = [*told[:place], *told[place + 1 :]]
    return [told[place], *others[-(MAX_LINES - 1) :]]


def _iterate_informative_lines(tail: str) -> Iterator[tuple[str, bool]]:
    """Yield each informative line once, and whether it reports an uncaught error."""
    in_traceback = False
    before = ""
    for raw in tail.splitlines():
        line = _GROUP_MARGIN.sub("", _STEERING.sub("", raw)).rstrip()
        if _TRACEBACK.match(line.strip()):
            in_traceback = True
            continue
        if in_traceback and line[:1].isspace():
            continue
        if line != before and not _NOISE.match(line):
            yield line.strip(), in_traceback or _UNCAUGHT.search(line) is not None
        # The first line that is not indented is the exception, and ends the traceback.
        in_traceback = in_traceback and not line
        before = line
