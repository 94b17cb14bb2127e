"""People's reviews: a person accepts or overrules the verdict on a trial, and so labels its judge.

A review concerns a whole trial, a judge's verdict one check of it. If a person passes a trial,
every judged check should have passed. If a person fails it, the judge should have failed its check
only if the trial has a single judged check and no other check explains the failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from harness.base import KNOWN, UsageError, make_one_line, make_printable, utc_now
from harness.judging.checks.judge.labelled_answers import FAIL, PASS
from harness.judging.log_judging import judge_log
from harness.runlog import Footer, Line, LogWriter, ReviewLine, RunLog, read_footer, read_log
from harness.types import CheckResult, Review, Status, TrialResult, dataclass

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
        # A log only grows: if it has its old size, nothing was added since it was read.
        is_known = known is not None and path.stat().st_size == known.size
        footer = read_footer(path) if is_known else None
        machine = known.status if known is not None and footer is not None else None
        if machine is None:
            machine, footer = _read_status(path, key)
        review = _build_review(key, machine, decision, name, words)
        # The footer is repeated, so that it stays the last line.
        lines: list[Line] = [ReviewLine(review=review), *([footer] if footer else [])]
        writer.write(b"".join(map(writer.prepare_line, lines)))
    return review


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledResult:
    """One answer, labelled by a person and by the judge of the run."""

    result: TrialResult
    """The trial."""
    review: Review
    """The person's review of the trial."""
    judge: str
    """Name of the judge."""
    human: str
    """``pass`` or ``fail``."""
    judged: str
    """``pass`` or ``fail``."""
    explanation: str
    """The judge's explanation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedJudge:
    """The labels of a run."""

    labels: tuple[LabelledResult, ...]
    """The labels in the order of the suites; a trial with two judged checks may have two."""
    silent: int
    """Number of reviews that cannot be compared with the judge."""


def reviewed_judge(log: RunLog, threshold: float) -> ReviewedJudge:
    """Return the labels of people and judge in ``log``.

    ``threshold`` is the lowest score with which a graded answer passes.
    """
    labels: list[LabelledResult] = []
    silent = 0
    for result in judge_log(log).results:
        review = log.reviews.get(result.key)
        said = [] if review is None else list(_judge_verdicts(result.checks, threshold))
        if review is None or not said:
            continue
        # It may have failed for another reason, which says nothing of the judge.
        if review.verdict == "failed" and not _points_at_judge(result, said):
            silent += 1
            continue
        labels += [
            LabelledResult(
                result=result,
                review=review,
                judge=judge,
                human=PASS if review.verdict == "passed" else FAIL,
                judged=label,
                explanation=explanation,
            )
            for judge, label, explanation in said
        ]
    return ReviewedJudge(labels=tuple(labels), silent=silent)


def _judge_verdicts(
    checks: Iterable[CheckResult], threshold: float
) -> Iterable[tuple[str, str, str]]:
    """Yield judge, label and explanation of each check that a judge has decided."""
    for check in checks:
        metrics = _read_metrics(check)
        facts = metrics.get("faithfulness") if "grades" in check.traits else check.actual
        # No judge graded it, but the score that stands in for one.
        if not isinstance(facts, Mapping) or facts.get("judge") is None:
            continue
        score = facts.get("score")
        if "judge_decides" in check.traits and check.verdict != "not_judged":
            passed = check.verdict == "passed"
        elif "grades" in check.traits and isinstance(score, int | float):
            passed = score >= threshold
        else:
            continue
        yield str(facts["judge"]), PASS if passed else FAIL, str(facts.get("explanation") or "")


def _read_metrics(check: CheckResult) -> Mapping[str, Any]:
    metrics = check.actual.get("metrics") if isinstance(check.actual, Mapping) else None
    return metrics if isinstance(metrics, Mapping) else {}


def _points_at_judge(result: TrialResult, said: list[tuple[str, str, str]]) -> bool:
    """Whether only the judged check can be the reason of a failure."""
    # With two judged checks, it is not known which one the person means.
    return len(said) == 1 and not any(
        _fails_otherwise(check)
        for check in result.checks
        if "judge_decides" not in check.traits and check.severity == "fail"
    )


def _fails_otherwise(check: CheckResult) -> bool:
    if "grades" not in check.traits:
        return check.verdict == "failed"
    metrics = _read_metrics(check)
    # A graded case may also fail by its calls, of which no judge decides.
    found = [metrics.get(name) for name in ("tool_selection", "argument_match")]
    scores = [one.get("score") for one in found if isinstance(one, Mapping)]
    return any(isinstance(score, int | float) and score < 1 for score in scores)
