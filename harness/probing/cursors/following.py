"""Send one identity's cursor as another identity.

Each use gets a fresh cursor from its owner, since a server may accept a cursor only once. The
caller reads all of their own pages before and after, so that changing data causes no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from harness.base import HarnessError, digest
from harness.judging import Result
from harness.probing.caller_sessions import NO_MODEL, SUITE, Prober, result_of
from harness.probing.caller_views import ProbedTrials, label_of, name_of
from harness.probing.callers import ProbeCaller
from harness.probing.cursors.arguments import LISTS, cursor_argument, cursor_of, followed
from harness.probing.cursors.lists import CURSOR, list_line, owners
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Session
from harness.types import Caller, Case, Tool, ToolList, Trial

Step: TypeAlias = Literal["own", "fresh", "theirs", "cross", "own again"]
"""``own``: a page of the caller. ``fresh``: the owner's first page, for its cursor. ``theirs``: the
owner's page at that cursor. ``cross``: the caller's page at it. ``own again``: a page of the caller
afterwards."""
MOST_PAIRS = 24
"""Maximum number of pairs of owner and caller, over all calls."""
MOST_PAGES = 10
"""Maximum number of the caller's own pages that are read. If there are more, a row that is missing
from them is no evidence."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A call whose result has a cursor for its owner, and another caller who sends that cursor."""

    owner: ProbeCaller
    caller: ProbeCaller
    call: ProbeCall
    argument: str


async def pairs(prober: Prober, probed: ProbedTrials) -> Sequence[Pair]:
    """Return who sends whose cursor, by the answers so far; at most `MOST_PAIRS` of tools.

    As many more are of the lists of tools, resources and prompts: these are asked for here.
    """
    lists = [*_of_lists(prober, await owners(prober))]
    return [*_pairs(prober, probed)][:MOST_PAIRS] + lists[:MOST_PAIRS]


def _of_lists(prober: Prober, owners: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    for method, names in owners.items():
        call = ProbeCall(tool=method, arguments={}, changes=False)
        for owner in prober.plan.callers:
            for caller in prober.plan.callers if owner.name in names else ():
                if caller is not owner:
                    yield Pair(owner, caller, call, CURSOR)


def _pairs(prober: Prober, probed: ProbedTrials) -> Iterator[Pair]:
    gives = {
        (name_of(run), label_of(run))
        for run in probed.runs
        if (result := probed.result(run)) is not None and cursor_of(result) is not None
    }
    tools = {tool.name: tool for listed in prober.lists.values() for tool in listed.tools}
    for call in prober.calls:
        name = None if call.changes or call.tool not in tools else _argument(tools[call.tool], call)
        for owner in prober.plan.callers if name is not None else ():
            for caller in prober.plan.callers:
                if caller is not owner and (owner.name, call.label) in gives and name is not None:
                    yield Pair(owner, caller, call, name)


def _argument(tool: Tool, call: ProbeCall) -> str | None:
    name = cursor_argument(tool)
    return None if name is None or name in call.arguments else name


async def crossed(prober: Prober, pair: Pair) -> list[tuple[TrialLine, ToolList | None]]:
    """Try one pair and return the log lines; none if a session does not open."""
    try:
        async with prober.session(pair.owner) as owner, prober.session(pair.caller) as caller:
            course = _Course(prober, pair, [])
            await course.walk(caller, "own")
            for times in (1, 2):
                await course.cross(owner, caller, times)
            await course.walk(caller, "own again")
            return [(line, None) for line in course.lines]
    except HarnessError:
        return []


@dataclass(slots=True)
class _Course:
    prober: Prober
    pair: Pair
    lines: list[TrialLine]

    async def walk(self, session: Session, step: Step) -> None:
        """Read all pages of the caller."""
        call = self.pair.call
        for page in range(1, MOST_PAGES + 1):
            result = await self._made(session, self.pair.caller, call, step, page)
            cursor = None if result is None else cursor_of(result)
            if cursor is None:
                return
            call = self._with(cursor)

    async def cross(self, owner: Session, caller: Session, times: int) -> None:
        """Send a fresh cursor of the owner as the owner, and another one as the caller."""
        for session, who, step in (
            (owner, self.pair.owner, "theirs"),
            (caller, self.pair.caller, "cross"),
        ):
            first = await self._made(owner, self.pair.owner, self.pair.call, "fresh", times)
            cursor = None if first is None else cursor_of(first)
            if cursor is not None:
                await self._made(session, who, self._with(cursor), step, times)  # type: ignore[arg-type]

    def _with(self, cursor: str) -> ProbeCall:
        call = self.pair.call
        return replace(call, arguments=followed(call.arguments, self.pair.argument, cursor))

    async def _made(
        self, session: Session, who: ProbeCaller, call: ProbeCall, step: Step, number: int
    ) -> Result | None:
        trial = self._trial(who, call, step, number)
        ask = list_line if call.tool in LISTS else self.prober.line
        line = await ask(session, call, trial)
        self.lines.append(line)
        found = result_of(line)
        return found if found is not None and found.call.outcome == "ok" else None

    def _trial(self, who: ProbeCaller, call: ProbeCall, step: Step, number: int) -> Trial:
        pair = self.pair
        pair_facts = {"of": pair.call.label, "owner": pair.owner.name, "caller": pair.caller.name}
        words = f"{step} {number}, cursor of {pair.owner.name} for {pair.caller.name}"
        name = f"{call.label} ({words}) [{who.name}]"
        case = Case(
            name=name,
            prompt=call.label,
            checks=(),
            caller=Caller(user_context=who.user_context, identity=who.name),
            metadata={
                "probe": {
                    "tool": call.tool,
                    "arguments": dict(call.arguments),
                    "bases": [],
                    "damage": None,
                    "credential": "valid",
                    "cursor": {**pair_facts, "step": step, "number": number},
                    **({} if call.tool in LISTS else self.prober.plan.origin.fact(who, call)),
                }
            },
        )
        key = digest([self.prober.plan.server.name, name, call.arguments, who.user_context])
        return Trial(suite=SUITE, case=case, model=NO_MODEL.name, index=0, key=key)
