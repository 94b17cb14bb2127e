"""The comparison of two servers: their tools, and the results of cases and tools on both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import NamedTuple

from harness.base import PairedEffect, make_one_line
from harness.descriptions.linting.rules.listing import estimated_tokens
from harness.descriptions.workbench.analysis.effects import count_of, effect_facts, list_names
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.other_server_trials import group_by_reason
from harness.descriptions.workbench.study import OtherServer, StudyContext
from harness.judging import wanted_first
from harness.reports import format_percent
from harness.runlog import changed_parts
from harness.types import Case, JsonObject, Tool, dataclass

_MOST_TOOLS, _MOST_CASES = 12, 5  # names in one line; the facts have all of them


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
    for case, (passed, judged) in measured.count_trials().items():
        if case in after:
            yield CaseComparison(
                case=case,
                before=passed / judged,
                after=after[case][0] / after[case][1],
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
        tokens=(
            None if before is None else estimated_tokens(before),
            None if after is None else estimated_tokens(after),
        ),
        changed=changed,
        descriptions=descriptions,
        cases=len(cases),
        before=fmean(case.before for case in cases) if cases else None,
        after=fmean(case.after for case in cases) if cases else None,
    )


def _first_calls(measured: ModelMeasurements) -> Mapping[str, str | None]:
    # Of several trials of a case, the first counts.
    return {call.case: call.tool for call in reversed(measured.first_calls())}


class ServerComparison(NamedTuple):
    """The findings on the other server besides the verdict."""

    lines: tuple[str, ...]
    """Details for a terminal, one line each."""
    notes: tuple[str, ...]
    """What was left out, and why."""
    facts: JsonObject
    """Everything, for programs and pages (JSON)."""


def compare_servers(
    bench: StudyContext,
    other: OtherServer,
    measured: ModelMeasurements,
    effect: PairedEffect | None,
) -> ServerComparison:
    """Return the suite's results on ``other`` compared with its own server, case by case."""
    cases = [] if measured.other is None else list(compare_cases(measured, measured.other))
    tools = compare_tools(bench.tools, other.tools, bench.suite.cases, cases)
    # A tool that a server lacks costs nothing there.
    lists = [sum(tool.tokens[side] or 0 for tool in tools) for side in (0, 1)]
    used = [
        None if side is None else mean_trial_tokens(side, cases)
        for side in (measured, measured.other)
    ]
    return ServerComparison(
        lines=tuple(_format_lines(other, lists, used, tools, cases)),
        notes=tuple(_build_notes(other, measured)),
        facts={
            "server": other.name,
            **({} if effect is None else effect_facts(effect)),
            "tokens_of_the_list": lists,
            "tokens_of_a_trial": used,
            "tools": [asdict(tool) for tool in tools],
            "cases_on_both": [{**asdict(case), "moved": case.rate_change} for case in cases],
            "not_asked": [{"case": case, "why": why} for case, why in other.not_asked.items()],
            "not_judged": 0 if measured.other is None else measured.other.count_unjudged(),
        },
    )


def _format_lines(
    other: OtherServer,
    lists: Sequence[int],
    used: Sequence[float | None],
    tools: Sequence[ToolComparison],
    cases: Sequence[CaseComparison],
) -> Iterator[str]:
    yield (
        f"  its list takes about {lists[1]:,} tokens in each request, the suite's own server's "
        f"{lists[0]:,}"
    )
    before, after = used
    if before is not None and after is not None and before + after > 0:
        yield f"  a trial takes {after:,.0f} tokens instead of {before:,.0f}"
    for words, names in {
        "only the suite's own server has": [one.tool for one in tools if one.tokens[1] is None],
        f"only {other.name} has": [one.tool for one in tools if one.tokens[0] is None],
        "not the same on both": [
            f"{one.tool} ({', '.join(one.changed)})" for one in tools if one.changed
        ],
    }.items():
        if names:
            yield f"  {words}: {list_names(names, _MOST_TOOLS)}"
    for one in tools:
        if one.before is not None and one.after is not None and one.before != one.after:
            yield (
                f"  cases that want {make_one_line(one.tool)}: {format_percent(one.before)} → "
                f"{format_percent(one.after)} of {one.cases}"
            )
    for words, sign in (("more", 1), ("less", -1)):
        if moved := [_format_case(case) for case in cases if case.rate_change * sign > 0]:
            yield f"  pass {words} often on {other.name}: {list_names(moved, _MOST_CASES)}"


def _format_case(one: CaseComparison) -> str:
    before, after = one.called
    if before == after:
        return make_one_line(one.case)
    return f"{one.case} (calls {after or 'no tool'} first instead of {before or 'no tool'})"


def _build_notes(other: OtherServer, measured: ModelMeasurements) -> Iterator[str]:
    for why, names in group_by_reason(other.not_asked).items():
        are = "is" if len(names) == 1 else "are"
        yield (
            f"{count_of(len(names), 'case')} cannot be asked of {other.name} and {are} left out of "
            f"the comparison: {list_names(names, _MOST_CASES)} ({why})."
        )
    if measured.other is None:
        yield f"{other.name} has not been tried yet."
    elif lost := measured.other.count_unjudged():
        have = "has" if lost == 1 else "have"
        yield (
            f"{count_of(lost, 'trial')} on {other.name} {have} no verdict; a case is compared on "
            "its other trials, or not at all."
        )
