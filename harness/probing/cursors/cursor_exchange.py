"""Send one identity's cursor as another identity.

Each use gets a fresh cursor from its owner, since a server may accept a cursor only once. The
caller reads all of their own pages before and after, so that changing data causes no finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from harness.base import HarnessError, digest_json
from harness.judging import Result
from harness.probing.call_facts import get_result
from harness.probing.caller_sessions import NO_MODEL, SUITE, Prober
from harness.probing.caller_views import ProbedTrials, get_caller_name, get_label
from harness.probing.callers import ProbeCaller
from harness.probing.cursors.arguments import (
    LISTS,
    find_cursor_argument,
    get_cursor,
    replace_cursor,
)
from harness.probing.cursors.lists import CURSOR, find_owners, list_line
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
class CursorPair:
    """A call whose result has a cursor for its owner, and another caller who sends that cursor."""

    owner: ProbeCaller
    caller: ProbeCaller
    call: ProbeCall
    argument: str


async def find_pairs(prober: Prober, probed: ProbedTrials) -> Sequence[CursorPair]:
    """Return who sends whose cursor, by the answers so far; at most `MOST_PAIRS` of tools.

    As many more are of the lists of tools, resources and prompts: these are asked for here.
    """
    lists = [*_pair_list_owners(prober, await find_owners(prober))]
    return [*_iterate_pairs(prober, probed)][:MOST_PAIRS] + lists[:MOST_PAIRS]


def _pair_list_owners(prober: Prober, owners: Mapping[str, Sequence[str]]) -> Iterator[CursorPair]:
    for method, names in owners.items():
        call = ProbeCall(tool=method, arguments={}, changes=False)
        for owner in prober.plan.callers:
            for caller in prober.plan.callers if owner.name in names else ():
                if caller is not owner:
                    yield CursorPair(owner, caller, call, CURSOR)


def _iterate_pairs(prober: Prober, probed: ProbedTrials) -> Iterator[CursorPair]:
    gives = {
        (get_caller_name(run), get_label(run))
        for run in probed.runs
        if (result := probed.get_result(run)) is not None and get_cursor(result) is not None
    }
    tools = {tool.name: tool for listed in prober.lists.values() for tool in listed.tools}
    for call in prober.calls:
        name = (
            None
            if call.changes or call.tool not in tools
            else _find_cursor_argument(tools[call.tool], call)
        )
        for owner in prober.plan.callers if name is not None else ():
            for caller in prober.plan.callers:
                if caller is not owner and (owner.name, call.label) in gives and name is not None:
                    yield CursorPair(owner, caller, call, name)


def _find_cursor_argument(tool: Tool, call: ProbeCall) -> str | None:
    # A call that sends a cursor of its own is no first page.
    name = find_cursor_argument(tool)
    return None if name is None or name in call.arguments else name


async def cross_cursors(
    prober: Prober, pair: CursorPair
) -> list[tuple[TrialLine, ToolList | None]]:
    """Try one pair and return the log lines; none if a session does not open."""
    try:
        async with (
            prober.open_session(pair.owner) as owner,
            prober.open_session(pair.caller) as caller,
        ):
            course = _CursorExchange(prober, pair, [])
            await course.read_pages(caller, "own")
            # Twice, since a finding counts only if it shows both times.
            for times in (1, 2):
                await course.send_cursors(owner, caller, times)
            await course.read_pages(caller, "own again")
            return [(line, None) for line in course.lines]
    # Without both sessions there is nothing to compare.
    except HarnessError:
        return []


@dataclass(slots=True)
class _CursorExchange:
    prober: Prober
    pair: CursorPair
    lines: list[TrialLine]

    async def read_pages(self, session: Session, step: Step) -> None:
        """Read all pages of the caller."""
        call = self.pair.call
        for page in range(1, MOST_PAGES + 1):
            result = await self._make_call(session, self.pair.caller, call, step, page)
            cursor = None if result is None else get_cursor(result)
            if cursor is None:
                return
            call = self._build_call(cursor)

    async def send_cursors(self, owner: Session, caller: Session, times: int) -> None:
        """Send a fresh cursor of the owner as the owner, and another one as the caller."""
        for session, who, step in (
            (owner, self.pair.owner, "theirs"),
            (caller, self.pair.caller, "cross"),
        ):
            first = await self._make_call(owner, self.pair.owner, self.pair.call, "fresh", times)
            cursor = None if first is None else get_cursor(first)
            if cursor is not None:
                await self._make_call(session, who, self._build_call(cursor), step, times)  # type: ignore[arg-type]

    def _build_call(self, cursor: str) -> ProbeCall:
        call = self.pair.call
        return replace(call, arguments=replace_cursor(call.arguments, self.pair.argument, cursor))

    async def _make_call(
        self, session: Session, who: ProbeCaller, call: ProbeCall, step: Step, number: int
    ) -> Result | None:
        trial = self._build_trial(who, call, step, number)
        ask = list_line if call.tool in LISTS else self.prober.make_call
        line = await ask(session, call, trial)
        self.lines.append(line)
        found = get_result(line)
        return found if found is not None and found.call.outcome == "ok" else None

    def _build_trial(self, who: ProbeCaller, call: ProbeCall, step: Step, number: int) -> Trial:
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
                    # No command of harness asks for a page of the server's own lists.
                    **({} if call.tool in LISTS else self.prober.plan.origin.build_fact(who, call)),
                }
            },
        )
        key = digest_json([self.prober.plan.server.name, name, call.arguments, who.user_context])
        return Trial(suite=SUITE, case=case, model=NO_MODEL.name, number=1, key=key)
