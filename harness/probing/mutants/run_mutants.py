"""The mutation scores of the suites of a run: ``harness evals --mutate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import anyio

from harness.probing.mutants.report import SuiteScore, run_scoring
from harness.runlog import RunLog
from harness.types import Case


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
