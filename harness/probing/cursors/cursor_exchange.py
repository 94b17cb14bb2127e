"""Send one identity's cursor as another identity.

Each use gets a fresh cursor from its owner, since a server may accept a cursor only once. The
caller reads all of their own pages before and after, so that changing data causes no finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations
from typing import Literal, TypeAlias

from harness.base import HarnessError
from harness.judging import Result
from harness.probing.call_facts import Lines, get_result, make_request
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials, get_caller_name, get_label
from harness.probing.callers import ProbeCaller
from harness.probing.cursors.arguments import LISTS, find_cursor_argument, get_cursor
from harness.probing.cursors.lists import CURSOR, collect_names, find_owners
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Session

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
    owners = await find_owners(prober)
    lists = (
        (ProbeCall(tool=method, arguments={}, changes=False), CURSOR, names)
        for method, names in owners.items()
    )
    gives = {
        (get_caller_name(run), get_label(run))
        for run in probed.runs
        if (result := probed.get_result(run)) is not None and get_cursor(result) is not None
    }
    tools = prober.tools
    calls = (
        (call, name, [one.name for one in prober.plan.callers if (one.name, call.label) in gives])
        for call in prober.reads
        if call.tool in tools
        and (name := find_cursor_argument(tools[call.tool])) is not None
        # A call that sends a cursor of its own is no first page.
        and name not in call.arguments
    )
    return [
        pair
        for asked in (calls, lists)
        for pair in islice(_iterate_pairs(prober.plan.callers, asked), MOST_PAIRS)
    ]


def _iterate_pairs(
    callers: Sequence[ProbeCaller], asked: Iterable[tuple[ProbeCall, str, Sequence[str]]]
) -> Iterator[CursorPair]:
    """Yield the pairs of each call; ``asked`` has its argument and who was given a cursor, too."""
    for call, argument, owners in asked:
        for owner, caller in permutations(callers, 2):
            if owner.name in owners:
                yield CursorPair(owner, caller, call, argument)


async def cross_cursors(prober: Prober, pair: CursorPair) -> Lines:
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
        pair = self.pair
        steps: tuple[tuple[Session, ProbeCaller, Step], ...] = (
            (owner, pair.owner, "theirs"),
            (caller, pair.caller, "cross"),
        )
        for session, who, step in steps:
            first = await self._make_call(owner, pair.owner, pair.call, "fresh", times)
            cursor = None if first is None else get_cursor(first)
            if cursor is not None:
                await self._make_call(session, who, self._build_call(cursor), step, times)

    def _build_call(self, cursor: str) -> ProbeCall:
        call = self.pair.call
        return replace(call, arguments={**call.arguments, self.pair.argument: cursor})

    async def _make_call(
        self, session: Session, who: ProbeCaller, call: ProbeCall, step: Step, number: int
    ) -> Result | None:
        pair, is_list = self.pair, call.tool in LISTS
        words = f"{step} {number}, cursor of {pair.owner.name} for {pair.caller.name}"
        cursor = {
            "of": pair.call.label,
            "owner": pair.owner.name,
            "caller": pair.caller.name,
            "step": step,
            "number": number,
        }
        trial = self.prober.build_named_trial(
            who,
            call,
            f"{call.label} ({words}) [{who.name}]",
            call.label,
            # No command of harness asks for a page of the server's own lists.
            None if is_list else {},
            cursor=cursor,
        )
        if is_list:
            line = await make_request(session, call, trial, collect_names)
        else:
            line = await self.prober.make_call(session, call, trial)
        self.lines.append(line)
        found = get_result(line)
        return found if found is not None and found.call.outcome == "ok" else None
