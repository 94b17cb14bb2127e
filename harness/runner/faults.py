"""Puts the faults of a trial between its sessions and whoever answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio.lowlevel

from harness.models import Model
from harness.runner.planning.plan import Job
from harness.runner.variants.shown_tools import ShownTools
from harness.sessions import FaultInjector
from harness.types import DEFAULT_TIMEOUT_S, FaultSet, Message, Reply, ToolList


def build_injector(job: Job) -> FaultInjector | None:
    """Return the faults of the trial ``job``; ``None`` if nothing is to go wrong."""
    faults: FaultSet | None = job.point.get("fault")
    if faults is None:
        return None
    case = job.trial.case
    limit_s = min(job.server.call_timeout_s, case.limits.timeout_s or DEFAULT_TIMEOUT_S)
    return FaultInjector(faults, case.name, limit_s)


class FaultedModel:
    """A model in one trial that no longer sees the tools that a fault took away."""

    def __init__(
        self, model: Model, injector: FaultInjector, shown: Sequence[ShownTools] = ()
    ) -> None:
        """Ask ``model``, which sees the tools as ``shown``, if a variant changes them."""
        self._model = model
        self._injector = injector
        self._shown = shown

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply.

        Raises:
            ModelError: there is no usable reply.
        """
        # Time that passed without anybody waiting may have used up the trial's.
        await anyio.lowlevel.checkpoint()
        gone = set(self._injector.gone)
        if gone:
            gone |= {one.map_to_model(tool, {})[0] for one in self._shown for tool in gone}
            kept = tuple(tool for tool in tools.tools if tool.name not in gone)
            tools = replace(tools, tools=kept)
        return await self._model.answer(conversation, tools, system)

    async def aclose(self) -> None:
        """Do nothing: the model belongs to its opener."""
