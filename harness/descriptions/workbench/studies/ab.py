"""Study: is another tool list better? Compares variants and another server with it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base import PairedEffect, make_one_line, make_printable, paired_effects
from harness.descriptions.workbench.analysis.effects import effect_facts, pair_trials, verdict_text
from harness.descriptions.workbench.analysis.two_servers import compare_servers
from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_percent, format_points
from harness.types import JsonObject


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    other, margin = measured.other, bench.options.margin
    versions = [
        (variant.name, f"Variant {make_printable(variant.name)}", measured.count_trials(variant))
        for variant in bench.versus
    ]
    if bench.other is not None:
        # Untried, it still has its place, so that effects and names stay in step.
        trials = {} if other is None else other.count_trials()
        versions.append((bench.other.name, f"Server {bench.other.name}", trials))
    clean = measured.count_trials()
    effects = paired_effects(
        [pair_trials(clean, trials, measured.tests) for _, _, trials in versions], margin=margin
    )
    known = [
        (make_printable(name), called, effect)
        for (name, called, _), effect in zip(versions, effects, strict=True)
        if effect is not None
    ]
    lines: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    facts: JsonObject = {}
    if bench.other is not None:
        lines, notes, facts = compare_servers(bench, bench.other, measured, effects[-1])
    elif bench.options.against is not None:
        notes = (f"{make_one_line(bench.options.against)} has not been tried yet.",)
    return StudyResult(
        headline=_write_headline(bench, known),
        lines=(
            *(
                f"{name}: {format_percent(effect.before)} → {format_percent(effect.after)} of "
                f"{effect.pairs} cases, {verdict_text(effect, len(known), effect.verdict)}"
                for name, _, effect in known
            ),
            *lines,
        ),
        findings=tuple(
            _build_finding(called, effect)
            for _, called, effect in known
            if effect.verdict != "undecided"
        ),
        facts={
            "margin": margin,
            "variants": [
                {"variant": variant.name, **effect_facts(effect)}
                # Behind the variants may stand the other server.
                for variant, effect in zip(bench.versus, effects, strict=False)
                if effect is not None
            ],
            **({"against": facts} if facts else {}),
        },
        notes=notes,
    )


def _write_headline(bench: StudyContext, known: Sequence[tuple[str, str, PairedEffect]]) -> str:
    if not bench.versus and bench.options.against is None:
        return "No other version was named; --variant NAME or --against SERVER compares one."
    if not known:
        return "No case was judged on both sides."
    return ", ".join(f"{name}: {effect.verdict}" for name, _, effect in known)


def _build_finding(called: str, effect: PairedEffect) -> Finding:
    if effect.verdict == "equivalent":
        text = f"{called} is neither better nor worse than the server's own list."
    else:
        moved = format_points(abs(effect.difference), sign=False)
        text = f"{called} is {effect.verdict} than the server's own list by {moved} points."
    return Finding(text=text, weight=100 * abs(effect.difference))


STUDY = Study(
    name="ab",
    place=40,
    question="Is another version of the list better, worse or equivalent?",
    arms=lambda bench: [Arm(variant=variant) for variant in bench.versus],
    read=_analyze_results,
)
