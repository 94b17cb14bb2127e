"""What a model of our own may change in a trial: what the suite allows, and the case expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.judging import expected_tools
from harness.models import Cautious, Leave, Model, reads
from harness.runner.planning.plan import Job
from harness.runner.variants.shown import ShownTools
from harness.types import GuardRails


def allowed_by(guard: GuardRails) -> Leave:
    """Return the leave that ``allow_writes`` of a suite gives."""
    return Leave(
        everything=guard.allow_writes, tools=frozenset(named.tool for named in guard.allowed)
    )


def with_leave(model: Model, job: Job, shown: Sequence[ShownTools] = ()) -> Model:
    """Return ``model`` with the leave of this trial, if it needs one.

    The tools of a leaderboard are simulated in memory, so there is nothing to protect. ``shown``:
    the lists that the model sees under a variant, whose words decide nothing here.
    """
    if not isinstance(model, Cautious):
        return model
    leave = allowed_by(job.server.guard)
    leave = replace(
        leave,
        everything=leave.everything or job.suite.leaderboard is not None,
        tools=leave.tools | expected_tools(job.trial.case),
    )
    if shown:
        leave = replace(
            leave,
            tools=leave.tools
            | {each.outward(tool, {})[0] for each in shown for tool in leave.tools},
            reading=frozenset(
                each.outward(tool.name, {})[0]
                for each in shown
                for tool in each.offered.tools
                if reads(tool)
            ),
        )
    return model.with_leave(leave)
