"""Puts the faults and the attack of a trial between its sessions and whoever answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.models import Model
from harness.runner.faults import FaultedModel
from harness.runner.planning.plan import Job
from harness.runner.variants.shown_tools import ShownTools
from harness.sessions import AttackedSession, FaultInjector, FaultySession, Planter, Session
from harness.types import AssistantMessage, Message, Reply, StateReading, Tool, ToolList


def build_planter(job: Job) -> Planter | None:
    """Return the attack of the trial ``job``; ``None`` if there is none."""
    case = job.trial.case
    attack = case.repeats.attack
    return None if attack is None else Planter(attack, case.name)


def interpose(
    sessions: Sequence[Session], injector: FaultInjector | None, planter: Planter | None
) -> list[Session]:
    """Return ``sessions`` with the faults and the attack of their trial, if it has any."""
    found = list(sessions)
    if injector is not None:
        found = [FaultySession(one, injector) for one in found]
    if planter is not None:
        found = [AttackedSession(one, planter) for one in found]
    return found


def interpose_model(
    model: Model,
    injector: FaultInjector | None,
    planter: Planter | None,
    sessions: Sequence[Session],
    shown: Sequence[ShownTools],
) -> Model:
    """Return ``model`` as it sees the tools under the faults and the attack of its trial."""
    if injector is not None:
        model = FaultedModel(model, injector, shown)
    if planter is not None:
        model = AttackedModel(model, planter, sessions, shown)
    return model


def list_planted(planter: Planter | None) -> tuple[StateReading, ...]:
    """Return what the attack of a trial planted outside of its calls, as states."""
    return tuple(
        StateReading(
            source={"planted": one.name, "place": one.place, "reply": one.reply}, value=one.text
        )
        for one in (() if planter is None else planter.plants)
    )


class AttackedModel:
    """A model in one trial that sees the tools with what an attack planted in their list."""

    def __init__(
        self,
        model: Model,
        planter: Planter,
        sessions: Sequence[Session],
        shown: Sequence[ShownTools] = (),
    ) -> None:
        """Ask ``model``, which sees the tools of ``sessions`` as ``shown``, if there is a variant.

        A text goes to the tool that has the name in the server's list, whatever a variant calls it.
        """
        self._model = model
        self._planter = planter
        self._sessions = sessions
        self._shown = shown
        self._known: tuple[ToolList, ToolList] | None = None

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply.

        Raises:
            ModelError: there is no usable reply.
        """
        reply = 1 + sum(isinstance(one, AssistantMessage) for one in conversation)
        return await self._model.answer(conversation, self._plant(tools, reply), system)

    def _plant(self, tools: ToolList, reply: int) -> ToolList:
        own = self._sessions[-1].tools
        now = self._planter.show_list(own, reply)
        if now is own:
            return tools
        # A provider's translation is kept by list: the same one as long as nothing changes.
        if self._known is not None and self._known[0] is tools:
            return self._known[1]
        changed = {one.name: one for one in now.tools if own.get(one.name) != one}
        names = {self._map_name(name): name for name in changed}
        listed = tuple(
            replace(one, description=self._reword(one.description, changed[names[one.name]], own))
            if one.name in names
            else one
            for one in tools.tools
        )
        added = tuple(one for one in now.tools if own.get(one.name) is None)
        planted = replace(tools, tools=(*listed, *added))
        self._known = tools, planted
        return planted

    def _map_name(self, name: str) -> str:
        return next((one.map_to_model(name, {})[0] for one in self._shown), name)

    @staticmethod
    def _reword(shown: str, changed: Tool, own: ToolList) -> str:
        """Return the description that a model sees, with what was planted behind the server's."""
        before = own.get(changed.name)
        added = changed.description.removeprefix("" if before is None else before.description)
        return f"{shown}{added}".strip()

    async def aclose(self) -> None:
        """Do nothing: the model belongs to its opener."""
