"""Study: which tools, parameters and allowed values does the suite exercise?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from harness.base import make_one_line
from harness.descriptions.workbench.analysis.tool_use import CaseCall, ToolUse, find_tool_uses
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.judging import wanted_calls

_MOST_NAMED = 5
_WEIGHT = 20
"""Importance of the finding that a suite expects none of the tools, in points of pass rate."""


def _build_arms(_bench: StudyContext) -> Sequence[Arm]:
    return ()


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
    by_checks, by_calls = find_tool_uses(bench.tools, wanted), find_tool_uses(bench.tools, called)
    idle = [use.tool for use in by_checks if not use.cases]
    return StudyResult(
        study=STUDY.name,
        headline=f"{_format_totals(by_checks)} are wanted by a check"
        + (
            f"; {_format_totals(by_calls)} were used in the run."
            if measured.has_trials(None)
            else "."
        ),
        lines=tuple(_format_lines(by_checks)),
        findings=_build_findings(idle, len(bench.tools)),
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
        notes=_build_notes(bench),
    )


def _build_findings(idle: Sequence[str], tools: int) -> tuple[Finding, ...]:
    if not idle:
        return ()
    is_are = "tool is" if len(idle) == 1 else "tools are"
    return (
        Finding(
            text=f"{len(idle)} of {tools} {is_are} wanted by no case, so nothing here would notice "
            f"a wrong description: {_format_names(idle)}.",
            weight=_WEIGHT * len(idle) / tools,
        ),
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
        lacks = [f"never with {_format_names(names)}" for names in (unused, members) if names]
        count = f"{len(use.cases)} case{'' if len(use.cases) == 1 else 's'}"
        yield "; ".join([f"{make_one_line(use.tool)}: {count}", *lacks])


def _format_totals(found: Sequence[ToolUse]) -> str:
    used = _count_totals(found)
    return ", ".join(
        f"{used[what]['used']} of {used[what]['all']} {label}"
        for what, label in (
            ("tools", "tools"),
            ("parameters", "parameters"),
            ("members", "allowed values"),
        )
        if used[what]["all"]
    )


def _count_totals(found: Sequence[ToolUse]) -> dict[str, dict[str, int]]:
    parameters = [parameter for use in found for parameter in use.parameters]
    members = [cases for parameter in parameters for cases in parameter.members.values()]
    counted: dict[str, tuple[int, Callable[[], int]]] = {
        "tools": (len(found), lambda: sum(bool(use.cases) for use in found)),
        "parameters": (
            len(parameters),
            lambda: sum(bool(parameter.cases) for parameter in parameters),
        ),
        "members": (len(members), lambda: sum(map(bool, members))),
    }
    return {name: {"used": used(), "all": size} for name, (size, used) in counted.items()}


def _build_notes(bench: StudyContext) -> tuple[str, ...]:
    silent = sum(not any(wanted_calls(case)) for case in bench.suite.cases)
    if not silent:
        return ()
    return (f"{silent} of {len(bench.suite.cases)} cases want no call by any check.",)


def _format_names(names: Sequence[str]) -> str:
    shown = ", ".join(make_one_line(name) for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


STUDY = Study(
    name="coverage",
    place=10,
    question="Which tools, parameters and allowed values does the suite exercise?",
    arms=_build_arms,
    read=_analyze_results,
    needs_run=False,
)
