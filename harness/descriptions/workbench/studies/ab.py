"""Study: is another tool list better? Compares variants and another server with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base import PairedEffect, one_line, paired_effects, printable
from harness.descriptions.workbench.analysis.effects import effect_facts, effect_text, pairs_of
from harness.descriptions.workbench.analysis.other_server import Comparison, compared
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.reports import percent, points
from harness.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class _Version:
    """A version of the list, and its effect."""

    name: str
    called: str
    effect: PairedEffect


def _arms(bench: Bench) -> Sequence[Arm]:
    return [Arm(variant=variant) for variant in bench.versus]


def _read(bench: Bench, measured: Measured) -> StudyResult:
    clean, other = measured.trials(), measured.other
    named = [(variant.name, f"Variant {printable(variant.name)}") for variant in bench.versus]
    tests = measured.tests
    groups = [pairs_of(clean, measured.trials(variant), tests) for variant in bench.versus]
    if bench.other is not None:
        named.append((bench.other.name, f"Server {bench.other.name}"))
        groups.append([] if other is None else pairs_of(clean, other.trials(), tests))
    effects = paired_effects(groups, margin=bench.options.margin)
    found = [
        None if effect is None else _Version(name=name, called=called, effect=effect)
        for (name, called), effect in zip(named, effects, strict=True)
    ]
    known = [version for version in found if version is not None]
    comparison = None
    if bench.other is not None:
        comparison = compared(bench, bench.other, measured, effects[-1])
    variants = [one for one in found[: len(bench.versus)] if one is not None]
    return StudyResult(
        study=STUDY.name,
        headline=_headline(bench, known),
        lines=(
            *(_line(one, len(known)) for one in known),
            *(() if comparison is None else comparison.lines),
        ),
        findings=tuple(_finding(one) for one in known if one.effect.verdict != "undecided"),
        facts={
            "margin": bench.options.margin,
            "variants": [{"variant": one.name, **effect_facts(one.effect)} for one in variants],
            **_facts(comparison),
        },
        notes=tuple(_notes(bench, comparison)),
    )


def _facts(comparison: Comparison | None) -> JsonObject:
    return {} if comparison is None else {"against": comparison.facts}


def _notes(bench: Bench, comparison: Comparison | None) -> Iterator[str]:
    if comparison is not None:
        yield from comparison.notes
    elif bench.options.against is not None:
        yield f"{one_line(bench.options.against)} has not been tried yet."


def _headline(bench: Bench, found: Sequence[_Version]) -> str:
    if not bench.versus and bench.options.against is None:
        return "No other version was named; --variant NAME or --against SERVER compares one."
    if not found:
        return "No case was judged on both sides."
    return ", ".join(f"{printable(one.name)}: {one.effect.verdict}" for one in found)


def _line(version: _Version, tests: int) -> str:
    effect = version.effect
    line = (
        f"{printable(version.name)}: {percent(effect.before)} → {percent(effect.after)} of "
        f"{effect.pairs} cases, {effect_text(effect, tests)}, {effect.verdict}"
    )
    if effect.cases_to_decide is not None:
        line += f"; about {effect.cases_to_decide:,} cases would decide"
    return line


def _finding(version: _Version) -> Finding:
    effect = version.effect
    if effect.verdict == "equivalent":
        text = f"{version.called} is neither better nor worse than the server's own list."
    else:
        moved = points(abs(effect.difference), sign=False)
        text = f"{version.called} is {effect.verdict} than the server's own list by {moved} points."
    return Finding(text=text, weight=100 * abs(effect.difference))


STUDY = Study(
    name="ab",
    place=40,
    question="Is another version of the list better, worse or equivalent?",
    arms=_arms,
    read=_read,
)
