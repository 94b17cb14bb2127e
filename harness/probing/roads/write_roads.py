"""Changes that may echo, copy or open what their caller does not get; only with ``--destructive``.

A change is tried on each record that is refused to an identity. Its answer is searched like any
other. Afterwards the identity asks for the records again: a change that shares, copies or moves
may have opened one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from harness.base import canonical_json, is_valid
from harness.judging import CallKey
from harness.models import build_example_arguments, is_read_only, may_call, split_words
from harness.probing.arguments.argument_change import get_argument_schema, get_argument_type
from harness.probing.arguments.argument_names import names_id
from harness.probing.call_facts import Lines, get_result
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.probing.roads.road_calls import collect_kept, list_answers
from harness.probing.roads.road_choice import RoadChoice
from harness.probing.roads.statements import KeptData, Statement
from harness.probing.stability import RepeatReason
from harness.types import JsonObject, Tool, Trial

MOST_WRITES = 40
"""Maximum number of changes that one identity tries."""
_MOST_RECORDS = 4
_CHANGES_IT = frozenset(
    {
        *("update", "edit", "set", "change", "modify", "rename", "move", "delete", "remove"),
        *("archive", "restore", "publish", "lock", "unlock", "close", "reopen", "share", "copy"),
        *("duplicate", "clone", "assign", "transfer", "approve", "merge", "patch", "revoke"),
    }
)
"""Verbs that do something to a record; a comment or a message is dropped in a box."""
_WRITE = RepeatReason("by another road")
_AFTER = RepeatReason("beside changes")


@dataclass(slots=True)
class _WriteChoice:
    """The changes of one identity."""

    tools: list[Tool]
    choice: RoadChoice
    kept: KeptData
    stated: dict[str, JsonObject] = field(default_factory=dict)
    """Tool → arguments that a suite states."""

    def iterate_calls(self, name: str) -> Iterator[tuple[ProbeCall, str]]:
        """Yield the changes of refused records, and of one that the identity sees; with the id."""
        for tool in self.tools:
            declared = tool.input_schema.get("properties")
            drafted = dict(build_example_arguments(tool).values)
            base = {**drafted, **self.stated.get(tool.name, {})}
            filled = {
                place: known[0]
                for place in base
                if (known := self.choice.list_visible_ids(name, tool, place))
            }
            target = next((one for one in declared or () if names_id(one)), None)
            for place in declared if isinstance(declared, Mapping) else ():
                hidden = self.choice.list_hidden_ids(name, tool, place)[:_MOST_RECORDS]
                visible = self.choice.list_visible_ids(name, tool, place)[:1] if hidden else []
                part = get_argument_schema(tool.input_schema, place)
                is_list = get_argument_type(part) == "array"
                for value in (*hidden, *visible):
                    arguments: JsonObject = {**base, **filled, place: [value] if is_list else value}
                    arguments = self._name_oneself(name, arguments, place)
                    if is_valid(arguments, tool.input_schema):
                        call = ProbeCall(tool=tool.name, arguments=arguments, changes=True)
                        # Further ids are references: whoever shares with somebody changes nobody.
                        yield call, value if value in hidden and place == target else ""

    def _name_oneself(self, name: str, arguments: JsonObject, changed: str) -> JsonObject:
        """Return arguments with the identity's own ids: whoever shares shares with themselves."""
        own = self.kept.attributes.get(name, {})
        mine = {key: own[key] for key in arguments if key in own and key != changed}
        return {**arguments, **mine}


async def make_write_calls(prober: Prober, probed: ProbedTrials) -> Lines:
    """Make the changes of each identity in a process of its own, and ask for the records again."""
    kept, answers = collect_kept(probed, "record"), list_answers(probed, "record")
    guard = prober.plan.server.guard
    tools = [
        tool
        for tool in prober.tools.values()
        if prober.plan.narrowing.has_tool(tool.name)
        and not is_read_only(tool)
        and tool.name not in guard.block
        and not guard.read_only
    ]
    if not prober.plan.destructive or not tools:
        return []
    readable = [tool for tool in prober.tools.values() if may_call(tool, invented=True)]
    stated = {call.tool: call.arguments for call in prober.calls if call.changes}
    choice = _WriteChoice(tools, RoadChoice(readable, kept, answers), kept, stated)
    lines: Lines = []
    for caller in prober.plan.callers:
        refused = kept.list_refused(caller.name)
        if caller.user_context and refused and prober.plan.narrowing.has_identity(caller.name):
            lines += await _make_changes(prober, caller, choice, refused)
            await prober.pool.end_idle()
    return lines


async def _make_changes(
    prober: Prober, caller: ProbeCaller, choice: _WriteChoice, refused: list[Statement]
) -> Lines:
    by_id: dict[str, Statement] = {}
    for one in reversed(refused):
        by_id |= {str(value): one for value in (one.arguments or {}).values()}
    made: set[CallKey] = set()
    changes: list[tuple[ProbeCall, Trial]] = []
    for call, value in choice.iterate_calls(caller.name):
        if call.key in made or len(changes) >= MOST_WRITES:
            continue
        made.add(call.key)
        changes.append((call, _build_trial(prober, caller, call, by_id.get(value))))
    again = [
        ProbeCall(tool=one.tool, arguments=one.arguments or {}, changes=False)
        for one in refused
        if one.tool in prober.tools and may_call(prober.tools[one.tool], invented=True)
    ]
    if not changes:
        return []
    # Before, too: whatever is open already was opened by nobody here.
    before = [(call, _build_reread(prober, caller, call, 1, "")) for call in again]
    words = "their own changes"
    after = [(call, _build_reread(prober, caller, call, 2, words)) for call in again]
    lines = await prober.run_trials(
        [*before, *changes, *after], partial(prober.open_own_session, caller)
    )
    open_before = {
        canonical_json([line.run.case.metadata["probe"]["write"]["record"]])
        for line, _ in lines[: len(before)]
        if (result := get_result(line)) is not None and result.call.outcome == "ok"
    }
    return [
        (line, tools)
        for line, tools in lines
        if not (facts := line.run.case.metadata["probe"]["write"])["opened_by"]
        or canonical_json([facts["record"]]) not in open_before
    ]


def _build_trial(
    prober: Prober, caller: ProbeCaller, call: ProbeCall, statement: Statement | None
) -> Trial:
    record = "" if statement is None else _describe(statement)
    facts = {
        "call": call.label,
        "record": record,
        "never": statement is not None and statement.never,
        "changes_it": not _CHANGES_IT.isdisjoint(split_words(call.tool)),
        "opened_by": "",
    }
    return prober.build_trial(caller, call, 1, _WRITE, {"write": facts})


def _build_reread(
    prober: Prober, caller: ProbeCaller, call: ProbeCall, number: int, words: str
) -> Trial:
    facts = {
        "call": call.label,
        "record": call.label,
        "never": False,
        "changes_it": False,
        "opened_by": words,
    }
    return prober.build_trial(caller, call, number, _AFTER, {"write": facts})


def _describe(statement: Statement) -> str:
    arguments = statement.arguments or {}
    return ProbeCall(tool=statement.tool, arguments=arguments, changes=False).label
