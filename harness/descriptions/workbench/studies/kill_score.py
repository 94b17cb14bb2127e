"""Study: does the suite detect defects that are planted into the tool list, one at a time?"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measurements import ModelMeasurements
from harness.descriptions.workbench.mutants.kill_score import (
    KillScore,
    MutantFate,
    kill_score,
    missing_test,
)
from harness.descriptions.workbench.mutants.planting import Planting, build_placebos, plant_mutants
from harness.descriptions.workbench.study import Finding, Study, StudyContext, StudyResult
from harness.reports import format_percent
from harness.types import JsonObject, Variant

PLACEBOS = 7
"""Number of placebos for an LLM. With 7, a defect without effect counts as noticed at most about
one time in twenty, however often cases fail by chance."""

_SHOWN = 5
"""Survivors whose missing test a terminal shows; the JSON has all of them."""
_OF_MUTANTS = ("operator", "tool", "other", "parameter", "defect", "label")
"""Attributes of a mutant that the facts have as they are."""


def _plant_mutants(bench: StudyContext) -> Planting:
    return plant_mutants(bench.tools, bench.options.mutants, bench.options.seed)


def _build_arms(bench: StudyContext) -> Sequence[Arm]:
    mutants = [mutant.variant for mutant in _plant_mutants(bench).mutants]
    # Placebos alone would say nothing.
    variants = [*_build_placebos(bench), *mutants] if mutants else []
    return [Arm(variant=variant) for variant in variants]


def _build_placebos(bench: StudyContext) -> tuple[Variant, ...]:
    """Return the placebos: one for a baseline, whose results do not depend on chance."""
    return build_placebos(bench.tools, 1 if bench.baseline else PLACEBOS)


def _analyze_results(bench: StudyContext, measured: ModelMeasurements) -> StudyResult:
    planting = _plant_mutants(bench)
    found = kill_score(
        measured.count_trials(),
        [measured.count_trials(variant) for variant in _build_placebos(bench)],
        [
            (mutant, measured.count_trials(mutant.variant))
            for mutant in planting.mutants
            if measured.has_trials(mutant.variant)
        ],
    )
    return StudyResult(
        headline=_write_headline(found),
        lines=tuple(_format_lines(found)),
        findings=tuple(_build_findings(found)),
        facts=_build_facts(found, planting),
        notes=tuple(_build_notes(found, planting)),
    )


def _write_headline(found: KillScore) -> str:
    if found.kill_rate is None or found.interval is None:
        if found.mutants and not found.able:
            return "No case passes on the server's own list, so none can notice a defect."
        return "No planted defect has been judged yet."
    low, high = map(format_percent, found.interval)
    return (
        f"The suite notices {len(found.mutants_with('killed'))} of {found.counted_mutants} planted "
        f"defects: {format_percent(found.kill_rate)} (95 % interval {low} to {high})."
    )


def _format_lines(found: KillScore) -> Iterator[str]:
    for operator, (killed, counted) in _count_by_operator(found).items():
        yield f"{killed} of {counted} noticed  {operator.replace('-', ' ')}"
    survivors = found.mutants_with("survived")
    for survivor in survivors[:_SHOWN]:
        yield f"not noticed: {survivor.mutant.label}"
        yield "  a test that would notice:"
        yield from textwrap.indent(missing_test(survivor.mutant), "    ").splitlines()
    if len(survivors) > _SHOWN:
        yield f"{len(survivors) - _SHOWN} more are not noticed: see --json-output"


def _count_by_operator(found: KillScore) -> dict[str, tuple[int, int]]:
    """Return operator → (killed, killed or survived)."""
    killed = Counter(one.mutant.operator for one in found.mutants_with("killed"))
    counted = killed + Counter(one.mutant.operator for one in found.mutants_with("survived"))
    return {name: (killed[name], counted[name]) for name in counted}


def _build_findings(found: KillScore) -> Iterator[Finding]:
    """Yield one finding for each tool whose defects go unnoticed."""
    unnoticed: dict[str, list[MutantFate]] = {}
    for one in found.mutants_with("survived"):
        unnoticed.setdefault(one.mutant.tool, []).append(one)
    for tool, survivors in unnoticed.items():
        first = survivors[0].mutant
        yield Finding(
            text=f"{len(survivors)} of {found.counted_mutants} planted defects are in {tool}, and "
            f"no case notices them; the first: {first.operator.replace('-', ' ')}"
            + (f" of {first.parameter}" if first.parameter else "")
            + f": {first.defect}.",
            weight=100 * len(survivors) / found.counted_mutants,
            tool=tool,
            # Where cases fail by chance, a survivor may have been noticed, too.
            certain=found.needed == 1,
        )


def _build_facts(found: KillScore, planting: Planting) -> JsonObject:
    return {
        "score": found.kill_rate,
        "interval": found.interval,
        "killed": len(found.mutants_with("killed")),
        "survived": len(found.mutants_with("survived")),
        "open": len(found.mutants_with("open")),
        "planted": len(planting.mutants),
        "possible": planting.possible,
        "equivalent": planting.equivalent,
        "able_cases": list(found.able),
        "fickle_cases": list(found.fickle),
        "chance": found.chance,
        "cases_needed": found.needed,
        "operators": {
            name: {"killed": killed, "counted": counted}
            for name, (killed, counted) in _count_by_operator(found).items()
        },
        "mutants": [
            {
                **{name: getattr(one.mutant, name) for name in _OF_MUTANTS},
                "value": one.mutant.value[0] if one.mutant.value else None,
                "variant": one.mutant.variant.name,
                "fate": one.fate,
                "noticed_by": list(one.noticed_by),
                "missing_test": missing_test(one.mutant) if one.fate == "survived" else None,
            }
            for one in found.mutants
        ],
    }


def _build_notes(found: KillScore, planting: Planting) -> Iterator[str]:
    chosen, kinds = len(planting.mutants), {mutant.operator for mutant in planting.mutants}
    if planting.possible > chosen + planting.equivalent:
        yield (
            f"{chosen} of {planting.possible} possible defects were planted, evenly over "
            f"{len(kinds)} kinds and the tools; --mutants N plants more."
        )
    if planting.equivalent:
        yield (
            f"{planting.equivalent} were left out and do not count: a model sees nothing of them, "
            "or the same as of another."
        )
    if left_open := len(found.mutants_with("open")):
        yield f"{left_open} do not count yet: not all their cases were judged."
    if found.fickle:
        yield (
            "These cases failed when the same words were tried again, and can notice nothing: "
            f"{', '.join(found.fickle)}. A defect counts as noticed only if at least "
            f"{found.needed} of the others fail. More --trials make cases steadier."
        )


STUDY = Study(
    name="kill-score",
    place=90,
    question="Would this suite notice a defect?",
    arms=_build_arms,
    read=_analyze_results,
)
"""The study of planted defects: those that the suite notices, and the missing tests for the
others."""
