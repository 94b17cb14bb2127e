"""What a model of our own may change in a trial: what the suite allows, and the case expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.judging import expected_tools
from harness.models import CautiousModel, Leave, Model, is_read_only
from harness.runner.planning.plan import Job
from harness.runner.variants.shown_tools import ShownTools
from harness.types import GuardRails


def get_leave(guard: GuardRails) -> Leave:
    """Return the leave that ``allow_writes`` of a suite gives."""
    return Leave(
        everything=guard.allow_writes, tools=frozenset(named.tool for named in guard.allowed)
    )


def grant_leave(model: Model, job: Job, shown: Sequence[ShownTools] = ()) -> Model:
    """Return ``model`` with the leave of this trial, if it needs one.

    The tools of a leaderboard are simulated in memory, so there is nothing to protect. ``shown``:
    the lists that the model sees under a variant, whose words decide nothing here.
    """
    if not isinstance(model, CautiousModel):
        return model
    leave = get_leave(job.server.guard)
    leave = replace(
        leave,
        everything=leave.everything or job.suite.leaderboard is not None,
        tools=leave.tools | expected_tools(job.trial.case),
    )
    # The model asks by the variant's names; what only reads is known by the server's words.
    if shown:
        leave = replace(
            leave,
            tools=leave.tools
            | {each.map_to_model(tool, {})[0] for each in shown for tool in leave.tools},
            reading=frozenset(
                each.map_to_model(tool.name, {})[0]
                for each in shown
                for tool in each.offered.tools
                if is_read_only(tool)
            ),
        )
    return model.with_leave(leave)
