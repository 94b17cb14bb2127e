"""Finds single lines of a large log by their first bytes, without reading the others as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.runlog.lines import Footer, Line, ReviewLine, TrialLine, begin_pattern, parse_line
from harness.types import Review

_TRIAL, _KEY, _REVIEW = begin_pattern("run"), begin_pattern("run", "key"), begin_pattern("review")
_BLOCK = 1 << 16


def find_last_line(log: Path, key: str) -> tuple[int, TrialLine] | None:
    """Return where in ``log`` the last line of the trial with that key begins, and the line.

    ``None``: there is no such line, or it is damaged.
    """
    # Other programs may escape what is not ASCII.
    written = tuple(json.dumps(key, ensure_ascii=one).encode() for one in (False, True))
    # The last one counts, and is parsed only once it is known to be the last.
    found, at = None, 0
    with log.open("rb") as file:
        for raw in file:
            begin = _KEY.match(raw)
            if begin and raw.startswith(written, begin.end()) and raw.endswith(b"\n"):
                found = at, raw
            at += len(raw)
    line = None if found is None else _try_parse(found[1])
    return (found[0], line) if found is not None and isinstance(line, TrialLine) else None


def read_reviews(log: Path) -> dict[str, Review]:
    """Return what people said of the verdicts, by the key of the trial: as `RunLog.reviews`."""
    reviews: dict[str, Review] = {}
    with log.open("rb") as file:
        for raw in file:
            # Trials matter only behind a review, which they make void; most logs have none.
            if _REVIEW.match(raw) or (reviews and _TRIAL.match(raw)):
                line = _try_parse(raw) if raw.endswith(b"\n") else None
                if isinstance(line, ReviewLine):
                    reviews[line.review.key] = line.review
                elif isinstance(line, TrialLine):  # it was run again since
                    reviews.pop(line.run.key, None)
    return reviews


def read_footer(log: Path) -> Footer | None:
    """Return the footer, if it is the last complete line of ``log``."""
    with log.open("rb") as file:
        at = end = file.seek(0, os.SEEK_END)
        tail = b""
        while at > 0 and tail.rstrip(b"\n").count(b"\n") < 2:  # noqa: PLR2004 - one may be torn
            at = max(0, at - _BLOCK)
            file.seek(at)
            tail = file.read(end - at)
    complete = tail[: tail.rfind(b"\n") + 1].splitlines(keepends=True)
    line = _try_parse(complete[-1]) if complete else None
    return line if isinstance(line, Footer) else None


def _try_parse(raw: bytes) -> Line | None:
    try:
        return parse_line(raw)
    except ValueError:
        return None
