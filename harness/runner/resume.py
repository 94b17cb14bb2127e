"""Take up a run where it ended: only what is missing or could not be judged is run again."""

from __future__ import annotations

from dataclasses import replace

from harness.errors import UsageError
from harness.runlog import Header, RunLog
from harness.runlog_diff import differences
from harness.runner.plan import Plan
from harness.types import DECIDED, Run


def remaining(plan: Plan, log: RunLog) -> Plan:
    """Return the part of ``plan`` that ``log`` holds no verdict of."""
    done = {run.key: run for run in log.runs if _stands(run)}
    jobs = tuple(job for job in plan.jobs if job.trial.key not in done)
    return replace(plan, jobs=jobs, done=tuple(done.values()))


def _stands(run: Run) -> bool:
    """Whether a result is final; any other is worth another attempt."""
    return run.status in {"passed", "failed"} or run.skip_reason == DECIDED


def refuse_if_changed(old: Header, new: Header) -> None:
    """Let a run be resumed only with what it began with.

    Raises:
        UsageError: naming every suite, case, model, server and setting that differs.
    """
    changes = list(differences(old, new))
    if changes:
        listed = "\n".join(f"  - {change}" for change in changes)
        raise UsageError(
            f"run {old.run_id} cannot be resumed, for what it asked has changed:\n{listed}",
            meant="Undo the change, or start a new run without --resume.",
        )
