"""What the identity that planted a text sees and may do, beside the conversation that reads it.

Three things are recorded as states of the trial, each with ``as`` and ``when`` in its source:
``before`` and ``after`` are what it could read around the conversation; ``same`` are the model's
calls that only read, made again by it; and ``right`` are the model's writes after the conversation,
tried by it, where harness may write.
"""

from __future__ import annotations

from collections.abc import Iterator

import anyio

from harness.models import is_read_only
from harness.runner.planning.plan import Job
from harness.sessions import Session
from harness.types import (
    DEFAULT_TIMEOUT_S,
    JsonObject,
    ScriptedCall,
    StateReading,
    ToolCall,
    ToolRequest,
    Transcript,
)

_MOST = 20
"""Calls of the model that are made again."""
_KEPT_CHARS = 20_000


def list_planter_users(job: Job) -> tuple[JsonObject | None, ...]:
    """Return the user whose session a trial needs beside its own: whoever planted its attack."""
    attack = job.trial.case.repeats.attack
    return () if attack is None or attack.planted_by is None else (attack.context,)


class PlanterView:
    """The eyes of the identity that planted the attack of a trial."""

    def __init__(self, job: Job, session: Session | None) -> None:
        """Look by ``session``; ``None`` if nobody is to look."""
        self._job = job
        self._session = session
        self.states: list[StateReading] = []
        """What was seen."""

    async def look_before(self) -> None:
        """Look before the conversation."""
        if self._session is None:
            return
        if self._job.server.isolation == "case":
            why = "isolation: case gives each identity a server of its own"
            self.states.append(StateReading(source=self._name("after", 0), error=why))
            self._session = None
        else:
            await self._look("before")

    async def look_after(self, seen: Session, said: Transcript) -> None:
        """Look after the conversation, in which the model called the tools of ``seen``."""
        if self._session is None:
            return
        calls = [(n, call, seen.tools.get(call.tool)) for n, call in enumerate(said.tool_calls)]
        good = [one for one in calls if one[1].outcome == "ok"][:_MOST]
        for number, call, tool in good:
            if tool is not None and is_read_only(tool):
                await self._call("same", number, call)
        await self._look("after")
        for number, call, tool in good:
            if tool is not None and not is_read_only(tool):
                await self._try_write(number, call)

    def _list_reads(self, session: Session) -> Iterator[ScriptedCall]:
        attack = self._job.trial.case.repeats.attack
        yield from () if attack is None else attack.reads
        for tool in session.tools.tools:
            if tool.read_only and not tool.input_schema.get("required"):
                yield ScriptedCall(tool=tool.name)

    async def _look(self, when: str) -> None:
        if self._session is not None:
            for number, call in enumerate(self._list_reads(self._session)):
                await self._call(when, number, call)

    async def _try_write(self, number: int, call: ToolCall) -> None:
        if self._session is None or self._session.tools.get(call.tool) is None:
            self._keep("right", number, call.tool, "unknown_tool", "")
        elif self._job.server.guard.allow_writes:
            await self._call("right", number, call)

    async def _call(self, when: str, number: int, call: ScriptedCall | ToolCall) -> None:
        if self._session is None:
            return
        request = ToolRequest(
            id=f"planter_{when}_{number}", tool=call.tool, arguments=call.arguments
        )
        limit = self._job.trial.case.limits.timeout_s or DEFAULT_TIMEOUT_S
        with anyio.move_on_after(limit):
            made = await self._session.call(request, reply=0, epoch=anyio.current_time())
            self._keep(when, number, call.tool, made.outcome, made.text)

    def _keep(self, when: str, number: int, tool: str, outcome: str, text: str) -> None:
        source = {**self._name(when, number), "tool": tool, "outcome": outcome}
        self.states.append(StateReading(source=source, value=text[:_KEPT_CHARS]))

    def _name(self, when: str, number: int) -> JsonObject:
        attack = self._job.trial.case.repeats.attack
        return {"as": attack and attack.planted_by, "when": when, "n": number}
