"""Study: is another tool list better? Compares variants and another server with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base import PairedEffect, make_one_line, make_printable, paired_effects
from harness.descriptions.workbench.analysis.effects import effect_facts, effect_text, pair_trials
from harness.descriptions.workbench.analysis.other_server import ServerComparison, compare_servers
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_percent, format_points
from harness.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class _VersionEffect:
    """A version of the list, and its effect."""

    name: str
    called: str
    effect: PairedEffect


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    return [Arm(variant=variant) for variant in bench.versus]


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    clean, other = measured.count_trials(), measured.other
    named = [(variant.name, f"Variant {make_printable(variant.name)}") for variant in bench.versus]
    tests = measured.tests
    groups = [pair_trials(clean, measured.count_trials(variant), tests) for variant in bench.versus]
    if bench.other is not None:
        named.append((bench.other.name, f"Server {bench.other.name}"))
        # Untried, it still has its place, so that effects and names stay in step.
        groups.append([] if other is None else pair_trials(clean, other.count_trials(), tests))
    effects = paired_effects(groups, margin=bench.options.margin)
    found = [
        None if effect is None else _VersionEffect(name=name, called=called, effect=effect)
        for (name, called), effect in zip(named, effects, strict=True)
    ]
    known = [version for version in found if version is not None]
    comparison = None
    if bench.other is not None:
        comparison = compare_servers(bench, bench.other, measured, effects[-1])
    variants = [one for one in found[: len(bench.versus)] if one is not None]
    return StudyResult(
        study=STUDY.name,
        headline=_write_headline(bench, known),
        lines=(
            *(_format_line(one, len(known)) for one in known),
            *(() if comparison is None else comparison.lines),
        ),
        findings=tuple(_build_finding(one) for one in known if one.effect.verdict != "undecided"),
        facts={
            "margin": bench.options.margin,
            "variants": [
                {"variant": variant.name, **effect_facts(variant.effect)} for variant in variants
            ],
            **_build_facts(comparison),
        },
        notes=tuple(_build_notes(bench, comparison)),
    )


def _build_facts(comparison: ServerComparison | None) -> JsonObject:
    return {} if comparison is None else {"against": comparison.facts}


def _build_notes(bench: StudyContext, comparison: ServerComparison | None) -> Iterator[str]:
    if comparison is not None:
        yield from comparison.notes
    elif bench.options.against is not None:
        yield f"{make_one_line(bench.options.against)} has not been tried yet."


def _write_headline(bench: StudyContext, found: Sequence[_VersionEffect]) -> str:
    if not bench.versus and bench.options.against is None:
        return "No other version was named; --variant NAME or --against SERVER compares one."
    if not found:
        return "No case was judged on both sides."
    return ", ".join(f"{make_printable(one.name)}: {one.effect.verdict}" for one in found)


def _format_line(version: _VersionEffect, tests: int) -> str:
    effect = version.effect
    line = (
        f"{make_printable(version.name)}: {format_percent(effect.before)} → "
        f"{format_percent(effect.after)} of "
        f"{effect.pairs} cases, {effect_text(effect, tests)}, {effect.verdict}"
    )
    if effect.cases_to_decide is not None:
        line += f"; about {effect.cases_to_decide:,} cases would decide"
    return line


def _build_finding(version: _VersionEffect) -> Finding:
    effect = version.effect
    if effect.verdict == "equivalent":
        text = f"{version.called} is neither better nor worse than the server's own list."
    else:
        moved = format_points(abs(effect.difference), sign=False)
        text = f"{version.called} is {effect.verdict} than the server's own list by {moved} points."
    return Finding(text=text, weight=100 * abs(effect.difference))


STUDY = Study(
    name="ab",
    place=40,
    question="Is another version of the list better, worse or equivalent?",
    arms=_build_arms,
    read=_analyze_results,
)
