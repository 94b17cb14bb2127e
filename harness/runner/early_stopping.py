"""Early stopping: further trials of a case are run only as long as they could change its verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TypeAlias

import anyio

from harness.runner.planning.plan import Job, Plan
from harness.types import Trial, TrialResult

_Case: TypeAlias = tuple[str, str, str]


class EarlyStopping:
    """Knows which cases of a plan are decided, as results arrive.

    An optional trial waits for the earlier ones of its case, so that what is run does not depend on
    how many run at the same time.
    """

    def __init__(self, plan: Plan) -> None:
        """Start from what an earlier run has decided."""
        self._ended: dict[str, anyio.Event] = {}
        self._earlier: dict[str, tuple[anyio.Event, ...]] = {}
        self._passed: Counter[_Case] = Counter()
        self._failed: Counter[_Case] = Counter()
        before: defaultdict[_Case, list[anyio.Event]] = defaultdict(list)
        for job in plan.jobs:
            case = _case(job.trial)
            self._earlier[job.trial.key] = tuple(before[case]) if job.optional else ()
            before[case].append(self._ended.setdefault(job.trial.key, anyio.Event()))
        for run in plan.done:
            self._count(run)

    async def wanted(self, job: Job) -> bool:
        """Return whether the trial is to be run, as soon as that is known.

        The trials that it waits for are running already, each under its own deadline.
        """
        for event in self._earlier[job.trial.key]:
            await event.wait()
        return not (job.optional and self._is_decided(job.trial))

    def account(self, run: TrialResult) -> None:
        """Take a result into account."""
        self._count(run)
        self._ended[run.key].set()

    def _count(self, run: TrialResult) -> None:
        case = (run.suite, run.case.name, run.model)
        self._passed[case] += run.status == "passed"
        self._failed[case] += run.status == "failed"

    def _is_decided(self, trial: Trial) -> bool:
        case = _case(trial)
        return (
            self._passed[case] >= trial.needed or trial.repeats - self._failed[case] < trial.needed
        )


def _case(trial: Trial) -> _Case:
    return trial.suite, trial.case.name, trial.model
