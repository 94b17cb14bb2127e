"""The common and different tools of two servers, and the results of cases and tools on both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.base import Trials
from harness.descriptions.linting.rules.listing import estimated_tokens
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.judging import wanted_first
from harness.runlog import changed_parts
from harness.types import Case, Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolComparison:
    """One tool on both servers; ``before`` is the suite's own server, ``after`` the other."""

    tool: str
    """Its name."""
    tokens: tuple[int | None, int | None]
    """Estimated tokens in every request, before and after; ``None`` where it is not listed."""
    changed: tuple[str, ...] = ()
    """Names of the parts that differ; empty too if one of the servers lacks the tool."""
    descriptions: tuple[str, str] | None = None
    """Its description before and after, if both servers have it and they differ."""
    cases: int = 0
    """Cases that expect it first and were judged on both."""
    before: float | None = None
    """The mean pass rate of these cases before; ``None`` without such a case."""
    after: float | None = None
    """The mean pass rate of these cases after; ``None`` without such a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseComparison:
    """One case that was judged on both servers."""

    case: str
    """Its name."""
    before: float
    """Its pass rate on the suite's own server."""
    after: float
    """Its pass rate on the other server."""
    called: tuple[str | None, str | None]
    """The tool called first in its first judged trial, before and after; ``None`` for no call."""

    @property
    def rate_change(self) -> float:
        """The change of its pass rate."""
        return self.after - self.before


def compare_tools(
    own: Sequence[Tool],
    other: Sequence[Tool],
    wants: Sequence[Case],
    cases: Sequence[CaseComparison],
) -> list[ToolComparison]:
    """Return every tool of either server, those of ``own`` first, in the order of the lists.

    ``wants`` are the cases of the suite, ``cases`` their results.
    """
    rates = {case.case: case for case in cases}
    wanted: dict[str, list[CaseComparison]] = {}
    for case in wants:
        first = wanted_first(case)
        if first is not None and case.name in rates:
            for name in first.tools:
                wanted.setdefault(name, []).append(rates[case.name])
    before, after = ({tool.name: tool for tool in tools} for tools in (own, other))
    return [
        _compare_tool(name, before.get(name), after.get(name), wanted.get(name, ()))
        for name in dict.fromkeys([*before, *after])
    ]


def compare_cases(
    measured: ModelMeasurements, other: ModelMeasurements
) -> Iterator[CaseComparison]:
    """Yield each case that was judged on both servers, in the order of the log."""
    after, called, called_after = other.count_trials(), _first_calls(measured), _first_calls(other)
    for case, trials in measured.count_trials().items():
        if case in after:
            yield CaseComparison(
                case=case,
                before=_pass_rate(trials),
                after=_pass_rate(after[case]),
                called=(called.get(case), called_after.get(case)),
            )


def mean_trial_tokens(measured: ModelMeasurements, cases: Sequence[CaseComparison]) -> float | None:
    """Return the mean tokens of a trial of ``cases``; ``None`` if any trial's are unknown."""
    names = {case.case for case in cases}
    used = [result.usage.tokens for result in measured.arm_results() if result.case.name in names]
    known = [tokens for tokens in used if tokens is not None]
    # Without some trials, the mean would be of others than on the other server.
    return fmean(known) if known and len(known) == len(used) else None


def _compare_tool(
    name: str, before: Tool | None, after: Tool | None, cases: Sequence[CaseComparison]
) -> ToolComparison:
    changed: tuple[str, ...] = ()
    descriptions = None
    if before is not None and after is not None:
        changed = tuple(dict.fromkeys(changed_parts(before, after)))
        if before.description != after.description:
            descriptions = before.description, after.description
    return ToolComparison(
        tool=name,
        tokens=(_tool_tokens(before), _tool_tokens(after)),
        changed=changed,
        descriptions=descriptions,
        cases=len(cases),
        before=fmean(case.before for case in cases) if cases else None,
        after=fmean(case.after for case in cases) if cases else None,
    )


def _tool_tokens(tool: Tool | None) -> int | None:
    return None if tool is None else estimated_tokens(tool)


def _pass_rate(trials: Trials) -> float:
    passed, judged = trials
    return passed / judged


def _first_calls(measured: ModelMeasurements) -> Mapping[str, str | None]:
    calls: dict[str, str | None] = {}
    for call in measured.first_calls():
        calls.setdefault(call.case, call.tool)
    return calls
