"""Extracts the informative lines at the end of a server's stderr, the cause first.

A line is left out if it does not explain the end of the server: frames and source lines of a
traceback, carets, rulers, and additions of language runtimes (``Node.js v22.1.0``,
``note: run with RUST_BACKTRACE=1``). The cause is

1. the last line that a runtime writes of an error which nobody caught: the exception of a Python
   traceback, ``Error: …`` of node, ``Caused by: …`` of Java, ``panic: …`` of Go, ``panicked at`` of
   Rust;
2. else the first of the last lines that speaks of a failure: ``error``, ``cannot``, ``not found``,
   ``denied`` …;
3. else the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
