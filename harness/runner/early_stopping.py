"""Early stopping: a case is repeated only while its verdict is open."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TypeAlias

import anyio

from harness.runner.planning.plan import Job, RunPlan
from harness.types import Trial, TrialResult

_Case: TypeAlias = tuple[str, str, str]


class EarlyStopping:
    """Tracks which cases of a plan are decided, as results arrive.

    An optional trial waits for the earlier ones of its case, so that which trials are run does not
    depend on concurrency.
    """

    def __init__(self, plan: RunPlan) -> None:
        """Start from the results of an earlier run."""
        self._ended: dict[str, anyio.Event] = {}
        self._earlier: dict[str, tuple[anyio.Event, ...]] = {}
        self._passed: Counter[_Case] = Counter()
        self._failed: Counter[_Case] = Counter()
        before: defaultdict[_Case, list[anyio.Event]] = defaultdict(list)
        for job in plan.jobs:
            case = _build_case_key(job.trial)
            # Only those before it in the plan, so that no two wait for each other.
            self._earlier[job.trial.key] = tuple(before[case]) if job.optional else ()
            before[case].append(self._ended.setdefault(job.trial.key, anyio.Event()))
        for run in plan.done:
            self._count_result(run)

    async def is_wanted(self, job: Job) -> bool:
        """Wait until it is decided whether the trial is to run, and return that.

        This waits for trials that are already running, each with its own deadline.
        """
        for event in self._earlier[job.trial.key]:
            await event.wait()
        trial, case = job.trial, _build_case_key(job.trial)
        lost = trial.repeats - self._failed[case] < trial.needed_passes
        return not (job.optional and (lost or self._passed[case] >= trial.needed_passes))

    def count_result(self, result: TrialResult) -> None:
        """Count a result."""
        self._count_result(result)
        self._ended[result.key].set()

    def _count_result(self, result: TrialResult) -> None:
        case = (result.suite, result.case.name, result.entrant)
        # A trial without a verdict counts for neither, so its case stays open.
        self._passed[case] += result.status == "passed"
        self._failed[case] += result.status == "failed"


def _build_case_key(trial: Trial) -> _Case:
    return trial.suite, trial.case.name, trial.entrant
