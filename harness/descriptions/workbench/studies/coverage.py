"""Study: which tools, parameters and allowed values does the suite exercise?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from harness.base import one_line
from harness.descriptions.workbench.analysis.exercised import CaseCall, ToolUse, uses
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.judging import wanted_calls

_MOST_NAMED = 5
_WEIGHT = 20
"""Importance of the finding that a suite expects none of the tools, in points of pass rate."""


def _arms(_bench: Bench) -> Sequence[Arm]:
    return ()


def _read(bench: Bench, measured: Measured) -> StudyResult:
    wanted: list[CaseCall] = [
        (case.name, tool, args) for case in bench.suite.cases for tool, args in wanted_calls(case)
    ]
    called: list[CaseCall] = [
        (result.case.name, call.tool, call.arguments)
        for result, transcript in measured.conversations()
        for call in transcript.server_calls
    ]
    by_checks, by_calls = uses(bench.tools, wanted), uses(bench.tools, called)
    idle = [use.tool for use in by_checks if not use.cases]
    return StudyResult(
        study=STUDY.name,
        headline=f"{_told(by_checks)} are wanted by a check"
        + (f"; {_told(by_calls)} were used in the run." if measured.has(None) else "."),
        lines=tuple(_lines(by_checks)),
        findings=_findings(idle, len(bench.tools)),
        facts={
            "totals": {"wanted": _totals(by_checks), "called": _totals(by_calls)},
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
        notes=_notes(bench),
    )


def _findings(idle: Sequence[str], tools: int) -> tuple[Finding, ...]:
    if not idle:
        return ()
    is_are = "tool is" if len(idle) == 1 else "tools are"
    return (
        Finding(
            text=f"{len(idle)} of {tools} {is_are} wanted by no case, so nothing here would notice "
            f"a wrong description: {_some(idle)}.",
            weight=_WEIGHT * len(idle) / tools,
        ),
    )


def _lines(found: Sequence[ToolUse]) -> Iterator[str]:
    """Yield the parts that no check exercises, tool by tool."""
    for use in found:
        if not use.cases:
            yield f"{one_line(use.tool)}: no case"
            continue
        unused = [one.name for one in use.parameters if not one.cases]
        members = [
            f"{one.name} = {text}"
            for one in use.parameters
            if one.cases
            for text, cases in one.members.items()
            if not cases
        ]
        lacks = [f"never with {_some(names)}" for names in (unused, members) if names]
        count = f"{len(use.cases)} case{'' if len(use.cases) == 1 else 's'}"
        yield "; ".join([f"{one_line(use.tool)}: {count}", *lacks])


def _told(found: Sequence[ToolUse]) -> str:
    used = _totals(found)
    return ", ".join(
        f"{used[what]['used']} of {used[what]['all']} {label}"
        for what, label in (
            ("tools", "tools"),
            ("parameters", "parameters"),
            ("members", "allowed values"),
        )
        if used[what]["all"]
    )


def _totals(found: Sequence[ToolUse]) -> dict[str, dict[str, int]]:
    parameters = [parameter for use in found for parameter in use.parameters]
    members = [cases for parameter in parameters for cases in parameter.members.values()]
    counted: dict[str, tuple[int, Callable[[], int]]] = {
        "tools": (len(found), lambda: sum(bool(use.cases) for use in found)),
        "parameters": (len(parameters), lambda: sum(bool(one.cases) for one in parameters)),
        "members": (len(members), lambda: sum(map(bool, members))),
    }
    return {name: {"used": used(), "all": size} for name, (size, used) in counted.items()}


def _notes(bench: Bench) -> tuple[str, ...]:
    silent = sum(not any(wanted_calls(case)) for case in bench.suite.cases)
    if not silent:
        return ()
    return (f"{silent} of {len(bench.suite.cases)} cases want no call by any check.",)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name) for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


STUDY = Study(
    name="coverage",
    place=10,
    question="Which tools, parameters and allowed values does the suite exercise?",
    arms=_arms,
    read=_read,
    needs_run=False,
)
