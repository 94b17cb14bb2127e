"""``--last-failed``: the cases that did not pass when they last ran, in whatever run that was."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TypeAlias

from harness.base import HarnessError, NothingToRun
from harness.judging import case_results, judge_log
from harness.runlog import read_header, read_log
from harness.runner import RUNS, Job, case_label, log_path, run_ids
from harness.types import CaseResult

_Asked: TypeAlias = tuple[str, str, str | None]
"""Suite, case, and the model that answers, or ``None`` for whichever does."""
_LATEST = 200
"""Number of latest runs that are searched. A suite that is being repaired ran more recently."""


def find_last_failed(jobs: Iterable[Job], runs: Path = RUNS) -> tuple[str, ...]:
    """Return the labels of the cases of ``jobs`` that failed or were errors when they last ran.

    A run of some cases says nothing about the others, nor one that was cut off about those without
    a verdict: what earlier runs say of them still holds. Likewise a run of one model says nothing
    about another of ``jobs``.

    Raises:
        NothingToRun: there is no such case, or no run of these suites.
    """
    trials = [job.trial for job in jobs]
    labels = {case_label(trial.suite, trial.case.name): None for trial in trials}
    # Whoever answered: a case that was never asked with these models may have failed with others.
    unknown: set[_Asked] = {
        (trial.suite, trial.case.name, model) for trial in trials for model in (trial.entrant, None)
    }
    failed: set[str] = set()
    latest: str | None = None
    # The newest first: what a later run says of a case replaces what earlier ones said.
    for run_id in run_ids(runs)[: -_LATEST - 1 : -1]:
        if not unknown:
            break
        found = _judged_cases(log_path(run_id, runs), unknown)
        latest = latest or (run_id if found else None)
        known: set[_Asked] = set()
        for one in found:
            told = {(one.suite, one.case, one.entrant), (one.suite, one.case, None)}
            known |= told
            if one.status != "passed" and not unknown.isdisjoint(told):
                failed.add(case_label(one.suite, one.case))
        # After all cases of the run: one that was asked of several models is known by each of them.
        unknown -= known
    if failed:
        return tuple(label for label in labels if label in failed)
    if latest is not None:
        raise NothingToRun(f"no case failed in the latest run: {latest}")
    names = dict.fromkeys(trial.suite for trial in trials)
    raise NothingToRun(f"there is no run yet of {', '.join(names)}, so nothing has failed")


def _judged_cases(log: Path, asked: Collection[_Asked]) -> list[CaseResult]:
    """Return the cases on which a run has a verdict or an error; none if no ``asked`` one is there.

    A damaged log does not say what failed.
    """
    try:
        header = read_header(log)
        answering = {*header.entrants, None}
        if all(
            case not in header.suites.get(suite, {}).get("cases", ()) or model not in answering
            for suite, case, model in asked
        ):
            return []  # a long log is not read in vain
        cases = case_results(judge_log(read_log(log)).results)
    except HarnessError:
        return []
    return [case for case in cases if case.status in {"passed", "failed", "error"}]
