"""Pagination cursors of other callers: sending one must give no more than one's own cursors.

Each use gets a fresh cursor from its owner, since a server may accept a cursor only once. The
caller reads all of their own pages before and after, so that changing data causes no finding. The
lists of the server itself (tools, resources, templates, prompts) are asked for like tools whose
argument is a cursor; of each page only the names are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice, permutations
from operator import itemgetter
from typing import Any, Literal, TypeAlias

from harness.base import HarnessError, ServerError
from harness.judging import Leaf, Result, is_masked, same_record
from harness.probing.arguments.argument_names import (
    LISTS,
    find_cursor_argument,
    get_cursor,
    is_cursor_field,
)
from harness.probing.call_facts import Lines, get_result, make_request
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    get_caller_name,
    get_facts,
    get_label,
    group_by,
)
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.reports import ProbeFinding
from harness.runlog import TrialLine
from harness.sessions import Session
from harness.types import TrialResult, dataclass

CURSOR = "cursor"
"""The parameter that takes a cursor."""
_NEXT = "nextCursor"
_NAMING = ("uri", "uriTemplate", "name")


async def find_owners(prober: Prober) -> Mapping[str, list[str]]:
    """Return the methods whose first page has a cursor, and the identities that were given it."""
    found: dict[str, list[str]] = {method: [] for method in LISTS}
    for caller in prober.plan.callers:
        try:
            async with prober.open_session(caller) as session:
                for method, given in found.items():
                    with suppress(ServerError):  # most servers have not all of the lists
                        if (await session.send_request(method, {})).get(_NEXT):
                            given.append(caller.name)
        except HarnessError:
            continue  # who is not let in is given nothing
    return found


def collect_names(method: str, page: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names and addresses on a page, as the result of a call."""
    items = page.get(LISTS[method])
    rows = [
        {key: item[key]}
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
        for key in _NAMING
        if isinstance(item.get(key), str)
    ]
    following = {_NEXT: page[_NEXT]} if page.get(_NEXT) else {}
    return {"structured": {LISTS[method]: rows, **following}}


def iterate_names(result: Result) -> Iterator[str]:
    """Yield the names and addresses on a page that `collect_names` has kept."""
    return (str(leaf.value) for leaf in result.leaves if leaf.name in _NAMING)


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
    call = partial(ProbeCall, arguments={}, changes=False)
    lists = ((call(tool=method), CURSOR, names) for method, names in owners.items())
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
    pairs = (_iterate_pairs(prober.plan.callers, asked) for asked in (calls, lists))
    tried = {caller.name for caller in prober.suspects}
    chosen = ((pair for pair in some if pair.caller.name in tried) for some in pairs)
    return [pair for some in chosen for pair in islice(some, MOST_PAIRS)]


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


_MOST_FIELDS = 4


def find_cursor_gains(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each cursor that gave another caller data that their own pages withhold, both times."""
    pair = itemgetter("of", "owner", "caller")
    groups = group_by(lambda run: pair(get_facts(run)["cursor"]), probed.apart["cursor"])
    for (call, owner, caller), runs in groups.items():
        steps = _PairCalls(probed, runs)
        is_list = get_facts(runs[0])["tool"] in LISTS
        opened = steps.find_listed_names if is_list else steps.find_opened_fields
        # Once may be chance, or data that changed in between.
        found = [opened(number) for number in (1, 2)]
        if all(found):
            fields = ", ".join(list(dict.fromkeys(found[0]))[:_MOST_FIELDS])
            words = (
                f"{call} gives {caller} {fields} with the cursor that {owner} was given, and with "
                f"none of their own"
            )
            shown = get_label(steps.runs["cross", 1])
            yield build_finding("foreign_cursor", words, caller, shown)


class _PairCalls:
    """The calls of one pair, and their results."""

    def __init__(self, probed: ProbedTrials, runs: Sequence[TrialResult]) -> None:
        step = itemgetter("step", "number")
        self.runs = {step(get_facts(run)["cursor"]): run for run in runs}
        self._results = {step: probed.get_result(run) for step, run in self.runs.items()}

    def find_opened_fields(self, number: int) -> list[str]:
        """Return the fields that the caller got only with the owner's cursor."""
        theirs, cross = (self._results.get((step, number)) for step in ("theirs", "cross"))
        if theirs is None or cross is None or cross.call.outcome != "ok":
            return []
        own, whole = self._collect_own_fields()
        return (
            []
            if own is None
            else [
                leaf.path or leaf.name
                for leaf in cross.leaves
                if _has_data(leaf)
                and any((one.path, one.value) == (leaf.path, leaf.value) for one in theirs.leaves)
                and self._is_withheld(leaf, own, whole=whole)
            ]
        )

    def find_listed_names(self, number: int) -> list[str]:
        """Return the names that the owner's cursor lists for both, and no page of the caller's own.

        None if their own list was not read to its end.
        """
        theirs, cross = (self._results.get((step, number)) for step in ("theirs", "cross"))
        # A refused list has no names, and the missing ones may be on a page that was not read.
        own, whole = self._collect_own_fields()
        if theirs is None or cross is None or own is None or not (own and whole):
            return []
        known = {str(leaf.value) for leaf in own}
        return [name for name in iterate_names(cross) if name in {*iterate_names(theirs)} - known]

    def _collect_own_fields(self) -> tuple[list[Leaf] | None, bool]:
        """Return the fields of the caller's own pages, and whether these pages are complete.

        ``None`` if a call had no answer. A refusal is an answer without any field.
        """
        leaves: list[Leaf] = []
        whole = True
        # What either reading has is not withheld, however the data changed in between.
        for step in ("own", "own again"):
            pages = [result for (of, _), result in self._results.items() if of == step]
            answered = [page for page in pages if page is not None]
            # A page that failed is no evidence that its rows are withheld.
            failed = any(page.call.outcome not in ("ok", "denied") for page in answered)
            if not pages or len(answered) < len(pages) or failed:
                return None, False
            given = (page for page in answered if page.call.outcome == "ok")
            leaves += (leaf for page in given for leaf in page.leaves)
            whole = whole and get_cursor(answered[-1]) is None
        return leaves, whole

    def _is_withheld(self, leaf: Leaf, own: Sequence[Leaf], *, whole: bool) -> bool:
        """Whether the caller's own pages lack this field of the record, or the whole record."""
        same = [one for one in own if same_record(one.record, leaf.record, leaf.name)]
        if same:
            return not any(one.path == leaf.path and _has_data(one) for one in same)
        if not own:  # refused
            return True
        rows = leaf.path[: leaf.path.rfind("[]") + 2]
        beside = [one for one in own if rows and one.path.startswith(rows)]
        # A row without comparable ids may be this very record.
        unsure = any(same_record(one.record, leaf.record, leaf.name) is None for one in beside)
        return whole and bool(rows and leaf.record.ids) and not unsure


def _has_data(leaf: Leaf) -> bool:
    """Whether a field has data: it is neither empty, nor masked, nor a cursor."""
    value = leaf.value
    return value not in (None, "") and not is_masked(value) and not is_cursor_field(leaf.name)
