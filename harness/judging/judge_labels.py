"""Compare people's reviews of a run with the verdicts of its judge.

A review concerns a whole trial, a judge's verdict one check of it. If a person passes a trial,
every judged check should have passed. If a person fails it, the judge should have failed its check
only if the trial has a single judged check and no other check explains the failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.judging.checks.judge.labelled_answers import FAIL, PASS
from harness.judging.log_judging import judge_log
from harness.runlog import RunLog
from harness.types import CheckResult, Review, TrialResult


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
        facts = _judge_facts(check)
        # No judge graded it, but the score that stands in for one.
        if facts.get("judge") is None:
            continue
        score = facts.get("score")
        if "judge_decides" in check.traits and check.verdict != "not_judged":
            passed = check.verdict == "passed"
        elif "grades" in check.traits and isinstance(score, int | float):
            passed = score >= threshold
        else:
            continue
        yield str(facts["judge"]), PASS if passed else FAIL, str(facts.get("explanation") or "")


def _judge_facts(check: CheckResult) -> Mapping[str, Any]:
    facts: Any = check.actual if isinstance(check.actual, Mapping) else {}
    if "grades" in check.traits:
        metrics = facts.get("metrics")
        facts = metrics.get("faithfulness") if isinstance(metrics, Mapping) else None
    return facts if isinstance(facts, Mapping) else {}


def _points_at_judge(result: TrialResult, said: list[tuple[str, str, str]]) -> bool:
    """Whether only the judged check can be the reason of a failure."""
    others = [
        check
        for check in result.checks
        if "judge_decides" not in check.traits and check.severity == "fail"
    ]
    # With two judged checks, it is not known which one the person means.
    return len(said) == 1 and not any(map(_fails_otherwise, others))


def _fails_otherwise(check: CheckResult) -> bool:
    if "grades" not in check.traits:
        return check.verdict == "failed"
    metrics = check.actual.get("metrics") if isinstance(check.actual, Mapping) else None
    # A graded case may also fail by its calls, of which no judge decides.
    scores = [
        metrics[name].get("score")
        for name in ("tool_selection", "argument_match")
        if isinstance(metrics, Mapping) and isinstance(metrics.get(name), Mapping)
    ]
    return any(isinstance(score, int | float) and score < 1 for score in scores)
