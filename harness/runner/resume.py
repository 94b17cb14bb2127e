"""Take up a run where it ended: only what is missing or could not be judged is run again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.errors import UsageError
from harness.runlog import Header, RunLog, TrialLine, read_lines
from harness.runlog_diff import differences
from harness.runner.plan import Plan
from harness.types import DECIDED, Run, Usage


def remaining(plan: Plan, log: RunLog) -> Plan:
    """Return the part of ``plan`` that ``log`` holds no verdict of."""
    done = {run.key: run for run in log.runs if _stands(run)}
    jobs = tuple(job for job in plan.jobs if job.trial.key not in done)
    made = (line.run for _, _, line in read_lines(log.path) if isinstance(line, TrialLine))  # all that were paid for
    spent = sum((_known(run.usage + run.judge_usage + run.user_usage) for run in made), Usage())
    return replace(plan, jobs=jobs, done=tuple(done.values()), spent=spent)


def _stands(run: Run) -> bool:
    """Whether a result is final; any other is worth another attempt."""
    return run.status in {"passed", "failed"} or run.skip_reason == DECIDED


def _known(usage: Usage) -> Usage:
    """Return ``usage`` with nothing in place of what is unknown: a budget counts it no more, now that it is spent."""
    return replace(
        usage,
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cost_usd=usage.cost_usd or 0.0,
    )


def refuse_if_changed(old: Header, new: Header, strangers: Iterable[Run] = ()) -> None:
    """Let a run be resumed only with what it began with; ``strangers`` are results that the new plan does not have.

    Raises:
        UsageError: naming every suite, case, model, server and setting that differs.
    """
    changes = list(differences(old, new))
    if not changes:
        # What is secret in a server's arguments decides what is asked, and is not in a header.
        changes = [f"suite {run.suite}: case {run.case} was asked in another way" for run in strangers]
    if changes:
        listed = "\n".join(f"  - {change}" for change in changes)
        raise UsageError(
            f"run {old.run_id} cannot be resumed, for what it asked has changed:\n{listed}",
            meant="Undo the change, or start a new run without --resume.",
        )
