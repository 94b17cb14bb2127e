"""Choose the calls of a probe, and the decisions that suites expect of them.

The calls are those of the suites, and one for each other read-only tool.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness.base import InvalidInput, canonical_json, digest_json, is_valid
from harness.judging import CallKey, check_traits, stated_arguments
from harness.models import (
    NO_LEAVE,
    Leave,
    build_example_arguments,
    can_change,
    is_read_only,
    may_call,
)
from harness.runner import (
    build_unoffered_problem,
    collect_titles,
    iterate_named_tools,
    list_own_names,
    sorted_problems,
)
from harness.types import Case, Check, JsonObject, ServerSpec, Tool, ToolList, dataclass

_LABEL_CHARS = 70
_ALL_THE_SAME = "(--destructive calls it all the same)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCall:
    """A call that every identity makes."""

    tool: str
    """The tool's name on the server."""
    arguments: JsonObject
    """The arguments."""
    changes: bool
    """Whether it may change data; such calls come last."""

    @property
    def key(self) -> CallKey:
        """Tool and arguments, in a form that can be compared."""
        return self.tool, canonical_json(self.arguments)

    @property
    def label(self) -> str:
        """Its unique name in tables: ``get_customer(id=7)``."""
        dump = partial(json.dumps, ensure_ascii=False)
        given = ", ".join(f"{name}={dump(value)}" for name, value in self.arguments.items())
        text = f"{self.tool}({given})"
        if len(text) <= _LABEL_CHARS:
            return text
        # The digest keeps long calls apart that begin alike.
        return f"{text[: _LABEL_CHARS - 7]}… #{digest_json([self.tool, self.arguments])[:4]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedTool:
    """A tool that is not called."""

    tool: str
    """Name of the tool."""
    reason: str
    """Why it is not called."""


def check_names(server: ServerSpec, lists: Iterable[ToolList], cases: Iterable[Case]) -> None:
    """Refuse names of tools, in ``cases``, blocked or allowed, that none of ``lists`` has.

    Raises:
        InvalidInput: with all of them.
    """
    lists = tuple(lists)
    known = {name: title for tools in lists for name, title in collect_titles(tools).items()}
    own = {name for tools in lists for name in list_own_names(tools, server)}
    blocked = [
        (named, known.keys() | own)
        for one in (server, *server.members)
        for named in (*one.guard.blocked, *one.guard.allowed)
    ]
    named_by_cases = [(one, known.keys()) for case in cases for one in iterate_named_tools(case)]
    problems = [
        build_unoffered_problem(
            named, "no identity of the suite is offered a", known, may_say_absent=True
        )
        for named, names in (*blocked, *named_by_cases)
        if named.tool not in names and not named.allow_absent
    ]
    # Without any list, every name would be wrong.
    if problems and known:
        raise InvalidInput(sorted_problems(problems))


def choose_calls(
    cases: Iterable[Case],
    tools: Mapping[str, Tool],
    *,
    destructive: bool,
    block: Collection[str] = (),
    read_only: bool = False,
    leave: Leave = NO_LEAVE,
) -> tuple[list[ProbeCall], list[SkippedTool]]:
    """Return the calls to make, and the tools that are left out.

    ``tools`` has every listed tool. A tool that is not known to read is called only if
    ``destructive`` is set or ``leave`` covers it; one that the server's guard rails
    (`GuardRails`) forbid is never called. A tool that reads by its words alone is called only
    with arguments that a suite states, never with drafted ones.
    """
    expected: dict[str, dict[str, JsonObject]] = {}
    for tool, arguments, forbidden in _iterate_expected_calls(cases):
        # What a suite forbids may do harm, so it is called only if it surely reads.
        if destructive or not forbidden or (tool in tools and may_call(tools[tool], invented=True)):
            expected.setdefault(tool, {})[canonical_json(arguments)] = arguments
    calls: list[ProbeCall] = []
    skipped: list[SkippedTool] = []
    # Suites also name tools that nobody is offered.
    for name in dict.fromkeys((*tools, *expected)):
        own, reason = _plan_tool_calls(
            name,
            tools.get(name),
            list(expected.get(name, {}).values()),
            leave=replace(leave, everything=leave.everything or destructive),
            destructive=destructive,
        )
        if name in block:
            own, reason = [], "it is blocked"
        elif read_only and not (name in tools and tools[name].read_only):
            reason = "the server is used read-only, and it is not marked as a read-only tool"
            own = []
        calls += own
        if not own:
            skipped.append(SkippedTool(tool=name, reason=reason))
    return sorted(calls, key=lambda call: call.changes), skipped


def _plan_tool_calls(
    name: str, tool: Tool | None, expected: list[JsonObject], *, leave: Leave, destructive: bool
) -> tuple[list[ProbeCall], str]:
    if tool is None:
        if not destructive:
            return [], f"nobody is shown it, so it may change something {_ALL_THE_SAME}"
        # Empty arguments mean any in a suite, and a tool without a schema shows none that fit.
        made = [ProbeCall(tool=name, arguments=each, changes=True) for each in expected if each]
        return made, "no arguments are known"
    if not may_call(tool, leave):
        what = "it changes something"
        if not can_change(tool):
            what = "it may change something: it is not marked as read-only (readOnlyHint), and its "
            what += "verbs are not known to read"
        return [], f"{what} {_ALL_THE_SAME}"
    may_draft = may_call(tool, leave, invented=True)
    drafted = build_example_arguments(tool)
    made_up = drafted.values if may_draft else {}
    # What a suite states may be a part of the arguments: drafted ones complete it.
    whole = (
        each if is_valid(dict(each), tool.input_schema) else {**made_up, **each}
        for each in expected
    )
    fitting = {canonical_json(one): one for one in whole if is_valid(dict(one), tool.input_schema)}
    tried: list[JsonObject] = list(fitting.values())
    if not tried and not may_draft:
        return [], (
            "it is not marked as read-only (readOnlyHint), and no suite states a whole call of it "
            "(--destructive calls it all the same)"
        )
    if not tried and not drafted.missing and is_valid(drafted.values, tool.input_schema):
        tried = [drafted.values]
    made = [ProbeCall(tool=name, arguments=each, changes=not is_read_only(tool)) for each in tried]
    return made, "no arguments are known that fit it"


def find_declared_gates(cases: Iterable[Case]) -> list[str]:
    """Return the tools of which a suite says that they ask their user."""
    checks = (check for case in cases for check in case.every_check)
    asking = (check for check in checks if "says_tool_asks" in check_traits(check))
    return [*dict.fromkeys(str(check.params["tool"]) for check in asking)]


def iterate_stated_calls(cases: Iterable[Case]) -> Iterator[tuple[str, JsonObject]]:
    """Yield each call whose arguments the suites state, with its tool."""
    return ((tool, arguments) for tool, arguments, _ in _iterate_expected_calls(cases))


def _iterate_expected_calls(cases: Iterable[Case]) -> Iterator[tuple[str, JsonObject, bool]]:
    """Yield each complete call in checks, setup and teardown, and whether it is forbidden."""
    for case in cases:
        for call in (*case.setup, *case.calls, *case.teardown):
            yield call.tool, call.arguments, False
        for check in case.every_check:
            forbids = "forbids_calls" in check_traits(check)
            # Checks may be nested in others (any_of), so calls are looked for at any depth.
            for tool, arguments in _iterate_nested_calls(check.dump_params()):
                yield tool, arguments, forbids


def _iterate_nested_calls(params: Any) -> Iterator[tuple[str, JsonObject]]:
    if isinstance(params, Mapping):
        tool, arguments = params.get("tool"), params.get("args")
        stated = stated_arguments(arguments) if isinstance(arguments, Mapping) else None
        if isinstance(tool, str) and stated is not None:
            yield tool, stated
        for part in params.values():
            yield from _iterate_nested_calls(part)
    elif isinstance(params, list | tuple):
        for part in params:
            yield from _iterate_nested_calls(part)


# Whether a model tries a call says nothing of the server's policy.
_OF_THE_MODEL = frozenset({"not_attempted"})
_HIDING = frozenset({"hidden"})


class Expectations:
    """The decisions that suites expect, by identity and call."""

    def __init__(self, cases: Iterable[Case], tools: Mapping[str, Tool]) -> None:
        """Read the checks of ``cases``; ``tools`` has every listed tool by name."""
        self._tools = tools
        self._checks: dict[str, list[Check]] = {}
        for case in cases:
            own = self._checks.setdefault(canonical_json(case.caller.user_context), [])
            own += [check for check in _iterate_decisions(case) if check not in own]

    def find_checks(
        self, user_context: JsonObject | None, tool: str, arguments: JsonObject
    ) -> tuple[Check, ...]:
        """Return the checks on one call of one identity: those with exactly these arguments.

        A decision without ``args``, or with ``{}``, concerns any arguments that a model may choose,
        so it applies to no particular call, unless the tool takes no arguments; ``{$equals: {}}``
        is the call without arguments. An expected ``hidden`` applies to all calls of the tool.
        """
        return tuple(
            check
            for check in self._checks.get(canonical_json(user_context), ())
            if check.params["tool"] == tool
            and (self._is_exact(check, tool, arguments) or _is_hiding(check))
        )

    def list_checks(self, user_context: JsonObject | None) -> tuple[Check, ...]:
        """Return all checks on calls of one identity."""
        return tuple(self._checks.get(canonical_json(user_context), ()))

    def list_hidden_tools(self, user_context: JsonObject | None) -> list[str]:
        """Return the tools that must not be listed for an identity."""
        own = self._checks.get(canonical_json(user_context), ())
        return list(dict.fromkeys(check.params["tool"] for check in own if _is_hiding(check)))

    def _is_exact(self, check: Check, tool: str, arguments: JsonObject) -> bool:
        pattern = check.params.get("args", {})
        takes_none = tool in self._tools and not self._tools[tool].input_schema.get("properties")
        stated = stated_arguments(pattern) if pattern or takes_none else None
        return stated is not None and canonical_json(stated) == canonical_json(arguments)


def _iterate_decisions(case: Case) -> Iterator[Check]:
    for check in case.every_check:
        telling = set(check.params.get("is", ())) - _OF_THE_MODEL or "without" in check.params
        if "decides_access" in check_traits(check) and "tool" in check.params and telling:
            yield check


def _is_hiding(check: Check) -> bool:
    return set(check.params.get("is", ())) - _OF_THE_MODEL == _HIDING
