"""The comparison with another server: the differences, in words and as facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from harness.base import PairedEffect, make_one_line
from harness.descriptions.workbench.analysis.effects import effect_facts
from harness.descriptions.workbench.analysis.two_servers import (
    CaseComparison,
    ToolComparison,
    compare_cases,
    compare_tools,
    mean_trial_tokens,
)
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import OtherServer, StudyContext
from harness.reports import format_percent
from harness.types import JsonObject

_MOST_TOOLS, _MOST_CASES = 12, 5
# names in one line; the facts have all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerComparison:
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
    for words, names in _sorted_tools(other.name, tools):
        if names:
            yield f"  {words}: {_format_names(names, _MOST_TOOLS)}"
    for one in tools:
        if one.before is not None and one.after is not None and one.before != one.after:
            yield (
                f"  cases that want {make_one_line(one.tool)}: {format_percent(one.before)} → "
                f"{format_percent(one.after)} of {one.cases}"
            )
    for words, moved in (
        ("pass more often", [case for case in cases if case.rate_change > 0]),
        ("pass less often", [case for case in cases if case.rate_change < 0]),
    ):
        if moved:
            yield (
                f"  {words} on {other.name}: {_format_names([_format_case(one) for one in moved])}"
            )


def _sorted_tools(other: str, tools: Sequence[ToolComparison]) -> Iterator[tuple[str, list[str]]]:
    yield (
        "only the suite's own server has",
        [tool.tool for tool in tools if tool.tokens[1] is None],
    )
    yield f"only {other} has", [tool.tool for tool in tools if tool.tokens[0] is None]
    yield (
        "not the same on both",
        [f"{tool.tool} ({', '.join(tool.changed)})" for tool in tools if tool.changed],
    )


def _format_case(one: CaseComparison) -> str:
    before, after = one.called
    if before == after:
        return make_one_line(one.case)
    return f"{one.case} (calls {after or 'no tool'} first instead of {before or 'no tool'})"


def _build_notes(other: OtherServer, measured: ModelMeasurements) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for case, why in other.not_asked.items():
        by_reason.setdefault(why, []).append(case)
    for why, names in by_reason.items():
        count = "1 case" if len(names) == 1 else f"{len(names):,} cases"
        yield (
            f"{count} cannot be asked of {other.name} and {'is' if len(names) == 1 else 'are'} "
            f"left out of the comparison: {_format_names(names)} ({why})."
        )
    if measured.other is None:
        yield f"{other.name} has not been tried yet."
    elif lost := measured.other.count_unjudged():
        trials = "1 trial" if lost == 1 else f"{lost:,} trials"
        yield (
            f"{trials} on {other.name} {'has' if lost == 1 else 'have'} no verdict; a case is "
            "compared on its other trials, or not at all."
        )


def _format_names(names: Sequence[str], most: int = _MOST_CASES) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(map(make_one_line, names[:most]))}{more}"
