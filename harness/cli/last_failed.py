"""``--last-failed``: the cases that did not pass in the latest run of their suite."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import HarnessError, NothingToRun
from harness.judging.cases import case_results
from harness.judging.from_log import judge_log
from harness.runlog import read_log
from harness.runner.planning.plan import case_label
from harness.runner.runs.folders import RUNS, log_path, run_ids

_LATEST = 200
"""Number of latest runs that are searched. A suite that is being repaired ran more recently."""


def last_failed(suites: Sequence[str], runs: Path = RUNS) -> tuple[str, ...]:
    """Return the labels of the cases that failed or were errors in the latest run of each suite.

    Raises:
        NothingToRun: there is no such case, or no run of these suites.
    """
    wanted, seen = set(suites), []
    failed: list[str] = []
    for run_id in run_ids(runs)[: -_LATEST - 1 : -1]:
        if not wanted:
            break
        try:
            log = read_log(log_path(run_id, runs))
        except HarnessError:
            continue  # a damaged log does not say what failed
        found = wanted & {result.suite for result in log.results}
        if not found:
            continue
        wanted -= found
        seen.append(run_id)
        cases = case_results(one for one in judge_log(log).results if one.suite in found)
        failed += [
            case_label(case.suite, case.case)
            for case in cases
            if case.status in {"failed", "error"}
        ]
    if failed:
        return tuple(dict.fromkeys(failed))
    if seen:
        raise NothingToRun(f"no case failed in the latest run: {', '.join(seen)}")
    raise NothingToRun(f"there is no run yet of {', '.join(suites)}, so nothing has failed")
