"""The mutation score of a policy suite, as lines for the console and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import anyio

from harness.base import make_one_line
from harness.probing.mutants.probe_mutants import KeptTable, ProbeJudge, ProbeRecording
from harness.probing.mutants.recording import AnswerRecording
from harness.probing.mutants.run_mutants import RunMutantJudge, RunRecording
from harness.probing.mutants.score import (
    MutantJudge,
    MutationScore,
    ScoredMutant,
    format_yaml,
    mutation_score,
)
from harness.runlog import RunLog
from harness.types import Case

_MOST_SURVIVORS = 30
"""Survivors that the console shows; JSON has all of them."""


Scoring: TypeAlias = Callable[[RunLog], tuple[AnswerRecording, MutantJudge]]
"""Returns the recorded answers of a log, and a judge for mutants of them."""


def probe_scoring(cases: Iterable[Case], kept: KeptTable | None = None) -> Scoring:
    """Return the scoring of a probe: by ``cases``, by the search for leaks, by ``kept``."""

    def start_scoring(log: RunLog) -> tuple[AnswerRecording, MutantJudge]:
        recording = ProbeRecording(log, cases)
        return recording, ProbeJudge(recording, kept)

    return start_scoring


def run_scoring(suite: str, cases: Iterable[Case]) -> Scoring:
    """Return the scoring of a run: by the checks of ``cases``, which belong to ``suite``."""

    def start_scoring(log: RunLog) -> tuple[AnswerRecording, MutantJudge]:
        recording = RunRecording(log, suite, cases)
        return recording, RunMutantJudge(recording)

    return start_scoring


class SuiteScore:
    """Computes the mutation score of a suite and compares it with the required minimum."""

    def __init__(self, scoring: Scoring, min_score: float | None) -> None:
        """``min_score``: the minimum percentage of mutants that must be killed, if any."""
        self._scoring = scoring
        self._min_score = min_score
        self._score: MutationScore | None = None
        self.fault: str | None = None
        """Why the score is too low, if it is."""

    async def __call__(self, log: RunLog) -> str | None:
        """Judge mutants of the answers in ``log``, and return `fault`."""
        score = self._score = await mutation_score(*self._scoring(log))
        if self._min_score is None:
            return None
        if score.share is None:
            self.fault = "nothing could be planted, so the suite has no mutation score"
        elif score.share * 100 < self._min_score:
            self.fault = (
                f"the suite notices {score.count_killed()} of {len(score.planted)} mutants "
                f"({score.share:.1%}), fewer than {self._min_score:g} %"
            )
        return self.fault

    @property
    def is_required(self) -> bool:
        """Whether a minimum score is required."""
        return self._min_score is not None

    @property
    def document(self) -> dict[str, Any] | None:
        """The score as JSON; ``None`` before it is computed."""
        return None if self._score is None else build_document(self._score)

    @property
    def lines(self) -> Iterator[tuple[str, str | None]]:
        """The lines of the console, each with its style."""
        if self._score is not None:
            yield from ((line, None) for line in format_lines(self._score))
        if self.fault is not None:
            yield f"✗ {self.fault}", "red"


def build_document(score: MutationScore) -> dict[str, Any]:
    """Return the score as JSON."""
    interval = score.interval
    return {
        "applicable": len(score.planted),
        "killed_by_suite": score.count_killed("suite"),
        "killed_by_search": score.count_killed("search"),
        "killed_by_kept": score.count_killed("kept"),
        "survived": len(score.survivors),
        "beyond_expectations": _count_unfixable(score),
        "score": score.share,
        "interval": None if interval is None else list(interval),
        "left_out": score.left_out,
        "operators": {
            operator: {"killed": killed, "applicable": count}
            for operator, (killed, count) in score.counts_by_operator.items()
        },
        "survivors": [_describe_survivor(each) for each in score.survivors],
    }


def format_lines(score: MutationScore) -> Iterator[str]:
    """Yield the lines of the console: survivors, then missing expectations, then the score."""
    if score.share is None:
        yield "Mutants: none, since no two identities were answered differently or at all."
        return
    survivors = score.survivors
    for each in survivors[:_MOST_SURVIVORS]:
        beyond = "" if each.missing else " (no expectation can say this)"
        yield make_one_line(f"survived: {each.operator}: {each.words}{beyond}")
    if (more := len(survivors) - _MOST_SURVIVORS) > 0:
        yield f"… and {more} more survivors (--json-output has all)"
    if missing := format_yaml(each.missing for each in survivors if each.missing):
        yield "Missing expectations, to be added to the tests of these names:"
        yield from missing.splitlines()
    yield from _format_summary(score)


def _format_summary(score: MutationScore) -> Iterator[str]:
    interval = score.interval
    assert interval is not None
    assert score.share is not None
    counts = score.counts_by_operator.items()
    rates = ", ".join(f"{operator} {killed}/{count}" for operator, (killed, count) in counts)
    yield f"By fault: {rates}"
    by_kept = score.count_killed("kept")
    kept = f"by the kept decisions alone {by_kept}, " if by_kept else ""
    yield (
        f"Mutants: {len(score.planted)}, killed by the suite's expectations "
        f"{score.count_killed('suite')}, by the search for leaks alone "
        f"{score.count_killed('search')}, {kept}"
        f"survived {len(score.survivors)} ({_count_unfixable(score)} of which no expectation "
        f"can say)"
    )
    left = f"; {score.left_out} more were not judged" if score.left_out else ""
    low, high = interval
    yield f"Mutation score: {score.share:.0%} (95 % interval {low:.0%} to {high:.0%}){left}"


def _count_unfixable(score: MutationScore) -> int:
    return sum(each.missing is None for each in score.survivors)


def _describe_survivor(each: ScoredMutant) -> dict[str, Any]:
    line = each.missing
    return {
        "operator": each.operator,
        "words": each.words,
        "missing": None
        if line is None
        else {
            "test": line.test,
            "identity": line.cell[0],
            "call": line.cell[1],
            "decision": line.decision,
            "without": list(line.without),
            "yaml": format_yaml([line]),
        },
    }


def score_run(
    log: RunLog, cases: Iterable[tuple[str, Case]], min_score: float | None = None
) -> Mapping[str, SuiteScore]:
    """Return the score of each suite of ``log``.

    Args:
        log: A run.
        cases: Pairs of a suite's name and one of its cases, redacted like the log.
        min_score: The minimum percentage of mutants that a suite must notice, if any.
    """
    of_suite: dict[str, dict[str, Case]] = {}
    for suite, case in cases:
        of_suite.setdefault(suite, {})[case.name] = case
    scores: dict[str, SuiteScore] = {}
    for suite, own in of_suite.items():
        scores[suite] = SuiteScore(run_scoring(suite, own.values()), min_score)
        anyio.run(scores[suite], log)
    return scores
