"""Study: does the suite detect defects that are planted into the tool list, one at a time?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.descriptions.workbench.arms import Arm
from harness.descriptions.workbench.measured import Measured
from harness.descriptions.workbench.mutants.killing import Judged, KillScore, kill_score
from harness.descriptions.workbench.mutants.missing import missing_test
from harness.descriptions.workbench.mutants.plant import Planting, placebos, planted
from harness.descriptions.workbench.study import Bench, Finding, Study, StudyResult
from harness.reports import percent
from harness.types import JsonObject, Variant

PLACEBOS = 7
"""Number of placebos for an LLM. With 7, a defect without effect counts as noticed at most about
one time in twenty, however often cases fail by chance."""

_SHOWN = 5
"""Survivors whose missing test a terminal shows; the JSON has all of them."""


def _planting(bench: Bench) -> Planting:
    return planted(bench.tools, bench.options.mutants, bench.options.seed)


def _arms(bench: Bench) -> Sequence[Arm]:
    mutants = [mutant.variant for mutant in _planting(bench).mutants]
    return [Arm(variant=variant) for variant in (*_placebos(bench), *mutants)] if mutants else []


def _placebos(bench: Bench) -> tuple[Variant, ...]:
    """Return the placebos: one for a baseline, whose results do not depend on chance."""
    return placebos(bench.tools, 1 if bench.baseline else PLACEBOS)


def _read(bench: Bench, measured: Measured) -> StudyResult:
    planting = _planting(bench)
    found = kill_score(
        measured.trials(),
        [measured.trials(variant) for variant in _placebos(bench)],
        [
            (mutant, measured.trials(mutant.variant))
            for mutant in planting.mutants
            if measured.has(mutant.variant)
        ],
    )
    return StudyResult(
        study=STUDY.name,
        headline=_headline(found),
        lines=tuple(_lines(found)),
        findings=tuple(_findings(found)),
        facts=_facts(found, planting),
        notes=tuple(_notes(found, planting)),
    )


def _headline(found: KillScore) -> str:
    if found.score is None or found.interval is None:
        if found.mutants and not found.able:
            return "No case passes on the server's own list, so none can notice a defect."
        return "No planted defect has been judged yet."
    low, high = found.interval
    return (
        f"The suite notices {len(found.of('killed'))} of {found.counted} planted defects: "
        f"{percent(found.score)} (95 % interval {percent(low)} to {percent(high)})."
    )


def _lines(found: KillScore) -> Iterator[str]:
    for operator, (killed, counted) in _by_operator(found).items():
        yield f"{killed} of {counted} noticed  {operator.replace('-', ' ')}"
    survivors = found.of("survived")
    for one in survivors[:_SHOWN]:
        yield f"not noticed: {one.mutant.label}"
        yield "  a test that would notice:"
        yield from (f"    {line}" for line in missing_test(one.mutant).splitlines())
    if len(survivors) > _SHOWN:
        yield f"{len(survivors) - _SHOWN} more are not noticed: see --json-output"


def _by_operator(found: KillScore) -> dict[str, tuple[int, int]]:
    """Return operator → (killed, killed or survived)."""
    killed = Counter(one.mutant.operator for one in found.of("killed"))
    counted = killed + Counter(one.mutant.operator for one in found.of("survived"))
    return {name: (killed[name], counted[name]) for name in counted}


def _findings(found: KillScore) -> Iterator[Finding]:
    """Yield one finding for each tool whose defects go unnoticed."""
    unnoticed: dict[str, list[Judged]] = {}
    for one in found.of("survived"):
        unnoticed.setdefault(one.mutant.tool, []).append(one)
    for tool, survivors in unnoticed.items():
        first = survivors[0].mutant
        yield Finding(
            text=f"{len(survivors)} of {found.counted} planted defects are in {tool}, and no case "
            f"notices them; the first: {first.operator.replace('-', ' ')}"
            + (f" of {first.parameter}" if first.parameter else "")
            + f": {first.defect}.",
            weight=100 * len(survivors) / found.counted,
            tool=tool,
            certain=found.needed == 1,
        )


def _facts(found: KillScore, planting: Planting) -> JsonObject:
    return {
        "score": found.score,
        "interval": found.interval,
        "killed": len(found.of("killed")),
        "survived": len(found.of("survived")),
        "open": len(found.of("open")),
        "planted": len(planting.mutants),
        "possible": planting.possible,
        "equivalent": planting.equivalent,
        "able_cases": list(found.able),
        "fickle_cases": list(found.fickle),
        "chance": found.chance,
        "cases_needed": found.needed,
        "operators": {
            name: {"killed": killed, "counted": counted}
            for name, (killed, counted) in _by_operator(found).items()
        },
        "mutants": [_mutant(one) for one in found.mutants],
    }


def _mutant(one: Judged) -> JsonObject:
    mutant = one.mutant
    return {
        "operator": mutant.operator,
        "tool": mutant.tool,
        "other": mutant.other,
        "parameter": mutant.parameter,
        "value": mutant.value[0] if mutant.value else None,
        "defect": mutant.defect,
        "label": mutant.label,
        "variant": mutant.variant.name,
        "fate": one.fate,
        "noticed_by": list(one.noticed_by),
        "missing_test": missing_test(mutant) if one.fate == "survived" else None,
    }


def _notes(found: KillScore, planting: Planting) -> Iterator[str]:
    chosen = len(planting.mutants)
    if planting.possible > chosen + planting.equivalent:
        yield (
            f"{chosen} of {planting.possible} possible defects were planted, evenly over "
            f"{len({one.operator for one in planting.mutants})} kinds and the tools; --mutants N "
            "plants more."
        )
    if planting.equivalent:
        yield (
            f"{planting.equivalent} were left out and do not count: a model sees nothing of them, "
            "or the same as of another."
        )
    if found.of("open"):
        yield f"{len(found.of('open'))} do not count yet: not all their cases were judged."
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
    arms=_arms,
    read=_read,
)
"""The study of planted defects: those that the suite notices, and the missing tests for the
others."""
