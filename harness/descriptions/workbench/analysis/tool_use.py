"""Which tools, parameters and allowed values are exercised, by expected calls or actual calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.base import canonical_json
from harness.judging import ABSENT, is_matcher, matches_pattern, plain_values
from harness.types import JsonObject, Tool

CaseCall = tuple[str, str, JsonObject]
"""Case, tool, and arguments: values, or the matchers of a check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterUse:
    """One parameter, and the cases that exercise it."""

    name: str
    """Its name."""
    cases: tuple[str, ...]
    """Cases whose calls set it, or are expected to."""
    members: Mapping[str, int]
    """Each allowed value (as JSON) → cases that use it; empty if any value is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool, and the cases that exercise it."""

    tool: str
    """Its name."""
    cases: tuple[str, ...]
    """Cases that call it or expect its call."""
    parameters: tuple[ParameterUse, ...]
    """All its parameters, in the order of the schema."""


def find_tool_uses(tools: Iterable[Tool], calls: Sequence[CaseCall]) -> list[ToolUse]:
    """Return for each of ``tools`` which of its parts ``calls`` exercise."""
    return [_tool_use(tool, [call for call in calls if call[1] == tool.name]) for tool in tools]


def _tool_use(tool: Tool, calls: Sequence[CaseCall]) -> ToolUse:
    properties = tool.input_schema.get("properties")
    return ToolUse(
        tool=tool.name,
        cases=tuple(dict.fromkeys(case for case, _, _ in calls)),
        parameters=tuple(
            _parameter_use(name, schema, calls)
            for name, schema in (properties if isinstance(properties, Mapping) else {}).items()
        ),
    )


def _parameter_use(name: str, schema: Any, calls: Sequence[CaseCall]) -> ParameterUse:
    given = [(case, args[name]) for case, _, args in calls if _is_given(args.get(name, ABSENT))]
    users: dict[str, set[str]] = {canonical_json(member): set() for member in _enum_members(schema)}
    for case, value in given:
        for text in map(canonical_json, _plain_values(value)):
            if text in users:
                users[text].add(case)
    return ParameterUse(
        name=name,
        cases=tuple(dict.fromkeys(case for case, _ in given)),
        members={text: len(cases) for text, cases in users.items()},
    )


def _enum_members(schema: Any) -> Sequence[Any]:
    """Return the values that a parameter may take, or the items of a list of them."""
    if not isinstance(schema, Mapping):
        return ()
    members = schema.get("enum")
    if isinstance(members, list):
        return members
    return _enum_members(schema.get("items"))


def _plain_values(value: Any) -> Iterator[Any]:
    """Yield the plain values in a value or matcher."""
    if isinstance(value, bool) or value is None:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _plain_values(item)
    else:
        # A value that a matcher names only to exclude it is not exercised.
        yield from (one for one in plain_values(value) if _allows_member(value, one))


def _allows_member(value: Any, member: Any) -> bool:
    return not is_matcher(value) or "$contains" in value or matches_pattern(value, member)


def _is_given(value: Any) -> bool:
    """Return whether an argument is present: a matcher may require it to be absent."""
    return value is not ABSENT and not (is_matcher(value) and matches_pattern(value, ABSENT))
