"""Append a person's review to a log: the person accepts or overrules the verdict on a trial."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from harness.base import KNOWN, UsageError, make_one_line, make_printable, utc_now
from harness.judging.log_judging import judge_log
from harness.runlog import Footer, Line, LogWriter, ReviewLine, read_footer, read_log
from harness.types import Review, Status

Decision: TypeAlias = Literal["accept", "overrule"]
"""The person's decision on a verdict."""

LONGEST_NAME = 100
"""Maximum number of characters of the reviewer's name."""
LONGEST_NOTE = 4_000
"""Maximum number of characters of a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStatus:
    """The status of a trial that somebody knows who has read the whole log."""

    status: Status
    """The trial's final status, by the machine."""
    size: int
    """Bytes of the log when it had this status."""


def add_review(
    path: Path,
    key: str,
    decision: Decision,
    *,
    by: str,
    note: str = "",
    known: KnownStatus | None = None,
) -> Review:
    """Append a person's review of the trial ``key`` to the log at ``path``, and return it.

    Secrets in it are redacted. An earlier review of the same trial stays in the log, but no
    longer counts. With a ``known`` status of the trial, the log is not read, unless it has changed.

    Raises:
        UsageError: the log has no such trial, the trial has no verdict, or the name or the note is
            missing or too long.
        HarnessError: the log is being written, or cannot be.
    """
    name, words = make_one_line(by).strip(), make_printable(note).strip()
    _require_words(name, words, decision)
    with LogWriter(path, KNOWN.redact_json_text) as writer:  # opened first, since it locks the log
        machine, footer = _use_known_status(path, known) or _read_status(path, key)
        review = _build_review(key, machine, decision, name, words)
        # The footer is repeated, so that it stays the last line.
        lines: list[Line] = [ReviewLine(review=review), *([footer] if footer else [])]
        writer.write(b"".join(map(writer.prepare_line, lines)))
    return review


def _use_known_status(path: Path, known: KnownStatus | None) -> tuple[Status, Footer] | None:
    # A log only grows: if it has its old size, nothing was added since it was read.
    if known is None or path.stat().st_size != known.size:
        return None
    footer = read_footer(path)
    return None if footer is None else (known.status, footer)


def _read_status(path: Path, key: str) -> tuple[Status, Footer | None]:
    """Return the final status of the trial, and the footer of the log."""
    log = read_log(path)
    result = next((result for result in judge_log(log).results if result.key == key), None)
    if result is None:
        raise UsageError("the run has no such trial")
    return result.status, log.footer


def _require_words(name: str, note: str, decision: Decision) -> None:
    if not name:
        raise UsageError("a review needs the name of the person", meant="Name them: --by NAME.")
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the name is longer than {LONGEST_NAME} characters")
    if len(note) > LONGEST_NOTE:
        raise UsageError(f"the note is longer than {LONGEST_NOTE:,} characters")
    if decision == "overrule" and not note:
        raise UsageError(
            "overruling a verdict needs a reason", meant="Give it as a note: --note TEXT."
        )


def _build_review(key: str, machine: Status, decision: Decision, name: str, note: str) -> Review:
    if machine not in {"passed", "failed"}:
        raise UsageError(
            f"the trial has no verdict that could be reviewed: it is {machine}",
            meant="Only 'passed' and 'failed' are verdicts.",
        )
    before: Literal["passed", "failed"] = "passed" if machine == "passed" else "failed"
    other: Literal["passed", "failed"] = "failed" if machine == "passed" else "passed"
    verdict = before if decision == "accept" else other
    return Review(key=key, verdict=verdict, machine=before, by=name, note=note, at=utc_now())
