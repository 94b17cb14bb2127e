"""Study: which tools, parameters and allowed values does the suite exercise?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.base import canonical_json, make_one_line
from harness.descriptions.workbench.analysis.effects import list_names
from harness.descriptions.workbench.arms import parameter_schemas
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.judging import ABSENT, is_matcher, matches_pattern, plain_values, wanted_calls
from harness.types import JsonObject, Tool, dataclass

_MOST_NAMED = 5
_WEIGHT = 20
"""Importance of the finding that a suite expects none of the tools, in points of pass rate."""

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


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    wanted: list[CaseCall] = [
        (case.name, tool, args) for case in bench.suite.cases for tool, args in wanted_calls(case)
    ]
    called: list[CaseCall] = [
        (result.case.name, call.tool, call.arguments)
        for result, transcript in measured.iterate_conversations()
        for call in transcript.server_calls
    ]
    # Both go through the same tools, so that they can be read side by side.
    by_checks, by_calls = _find_tool_uses(bench.tools, wanted), _find_tool_uses(bench.tools, called)
    idle = [use.tool for use in by_checks if not use.cases]
    return StudyResult(
        headline=f"{_format_totals(by_checks)} are wanted by a check"
        + (
            f"; {_format_totals(by_calls)} were used in the run."
            if measured.has_trials(None)
            else "."
        ),
        lines=tuple(_format_lines(by_checks)),
        findings=tuple(_build_findings(idle, len(bench.tools))),
        facts={
            "totals": {"wanted": _count_totals(by_checks), "called": _count_totals(by_calls)},
            "tools": [
                {
                    "tool": one.tool,
                    "wanted_by": list(one.cases),
                    "called_by": list(other.cases),
                    "parameters": [
                        {
                            **asdict(parameter),
                            "called_by": list(same.cases),
                            "members_called": dict(same.members),
                        }
                        for parameter, same in zip(one.parameters, other.parameters, strict=True)
                    ],
                }
                for one, other in zip(by_checks, by_calls, strict=True)
            ],
        },
        notes=tuple(_build_notes(bench)),
    )


def _build_findings(idle: Sequence[str], tools: int) -> Iterator[Finding]:
    if idle:
        is_are = "tool is" if len(idle) == 1 else "tools are"
        yield Finding(
            text=f"{len(idle)} of {tools} {is_are} wanted by no case, so nothing here would notice "
            f"a wrong description: {list_names(idle, _MOST_NAMED)}.",
            weight=_WEIGHT * len(idle) / tools,
        )


def _format_lines(found: Sequence[ToolUse]) -> Iterator[str]:
    """Yield the parts that no check exercises, tool by tool."""
    for use in found:
        if not use.cases:
            yield f"{make_one_line(use.tool)}: no case"
            continue
        unused = [parameter.name for parameter in use.parameters if not parameter.cases]
        members = [
            f"{parameter.name} = {text}"
            for parameter in use.parameters
            if parameter.cases
            for text, cases in parameter.members.items()
            if not cases
        ]
        lacks = [list_names(names, _MOST_NAMED) for names in (unused, members) if names]
        count = f"{len(use.cases)} case{'' if len(use.cases) == 1 else 's'}"
        yield "; never with ".join([f"{make_one_line(use.tool)}: {count}", *lacks])


def _format_totals(found: Sequence[ToolUse]) -> str:
    totals = _count_totals(found)
    labels = {"tools": "tools", "parameters": "parameters", "members": "allowed values"}
    return ", ".join(
        f"{totals[what]['used']} of {totals[what]['all']} {label}"
        for what, label in labels.items()
        if totals[what]["all"]
    )


def _count_totals(found: Sequence[ToolUse]) -> dict[str, dict[str, int]]:
    parameters = [parameter for use in found for parameter in use.parameters]
    # Whether each part is used.
    used = {
        "tools": [bool(use.cases) for use in found],
        "parameters": [bool(parameter.cases) for parameter in parameters],
        "members": [bool(cases) for one in parameters for cases in one.members.values()],
    }
    return {name: {"used": sum(marks), "all": len(marks)} for name, marks in used.items()}


def _build_notes(bench: StudyContext) -> Iterator[str]:
    if silent := sum(not any(wanted_calls(case)) for case in bench.suite.cases):
        yield f"{silent} of {len(bench.suite.cases)} cases want no call by any check."


def _find_tool_uses(tools: Iterable[Tool], calls: Sequence[CaseCall]) -> list[ToolUse]:
    """Return for each of ``tools`` which of its parts ``calls`` exercise."""
    return [_tool_use(tool, [call for call in calls if call[1] == tool.name]) for tool in tools]


def _tool_use(tool: Tool, calls: Sequence[CaseCall]) -> ToolUse:
    return ToolUse(
        tool=tool.name,
        cases=tuple(dict.fromkeys(case for case, _, _ in calls)),
        parameters=tuple(
            _parameter_use(name, schema, calls) for name, schema in parameter_schemas(tool).items()
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


STUDY = Study(
    name="coverage",
    place=10,
    question="Which tools, parameters and allowed values does the suite exercise?",
    read=_analyze_results,
    needs_run=False,
)
