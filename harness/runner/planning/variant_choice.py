"""What is refused of entrants before a run: variants that do not fit its models or its cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.base import InvalidInput, Problem, UsageError, did_you_mean
from harness.models import get_traits
from harness.runlog import read_header
from harness.suites import Point, describe_variant, name_values
from harness.types import Case, Location, ModelSpec, Suite, Variant, name_entrant


def merge_variants(own: Sequence[Variant], held: Sequence[Variant]) -> tuple[Variant, ...]:
    """Return a suite's ``own`` variants and those that a program holds.

    Raises:
        UsageError: two different ones have the same name.
    """
    known: dict[str, Variant] = {}
    for variant in (*own, *held):
        if known.setdefault(variant.name, variant) != variant:
            raise UsageError(f"two different variants are named {variant.name!r}")
    return tuple(known.values())


def refuse_twins(entrants: Iterable[tuple[ModelSpec, Point]]) -> None:
    """Check that each name of a value, and of an entrant, means one thing across all suites.

    Raises:
        UsageError: two suites have different values of one name, or two entrants have one name.
    """
    # Reports count results by these names, over all suites.
    values: dict[tuple[str, str], object] = {}
    known: dict[str, tuple[str, Mapping[str, str]]] = {}
    for model, point in entrants:
        for axis, value in point.items():
            if values.setdefault((axis, value.name), value) != value:
                raise UsageError(
                    f"two suites have different {axis}s named {value.name!r}",
                    meant="Give each a name of its own, or run the suites one by one.",
                )
        own = model.name, name_values(point)
        if known.setdefault(name_entrant(*own), own) != own:
            raise UsageError(
                f"two entrants of this run would have the name {name_entrant(*own)!r}",
                meant="Give the model or the variant another name.",
            )


def refuse_recorded(entrants: Iterable[tuple[ModelSpec, Variant]]) -> None:
    """Check that no model replays outputs that were made for another tool list than its variant's.

    A recorded run may be replayed under the variant of its recording.

    Raises:
        UsageError: the outputs of a model were made for the server's own list, or for another.
    """
    for model, variant in entrants:
        answers = get_traits(model.provider).answers
        if answers not in ("outputs", "replies"):
            continue
        if answers == "replies":
            # Without their names, since the same edits may be called otherwise now.
            wanted = {**describe_variant(variant)["edits"], "name": ""}
            made = read_header(Path(model.model_id)).axes.get("variant", {}).values()
            if any({**one["edits"], "name": ""} == wanted for one in made):
                continue
        raise UsageError(
            f"{model.name} repeats what was said to one tool list, and cannot be asked "
            f"about another, that of the variant {variant.name!r}",
            meant="Name a model that replies, or a run that was made with the variant.",
        )


def check_prompts(suites: Iterable[Suite], variants: Iterable[Variant]) -> None:
    """Check that every case that a variant rewords exists and has a prompt.

    ``suites`` have all their cases.

    Raises:
        InvalidInput: the error names every case that no suite has, or whose user is simulated.
    """
    cases: dict[str, list[Case]] = {}
    for suite in suites:
        for case in suite.cases:
            cases.setdefault(case.name, []).append(case)
    rewording = {variant.name: variant for variant in variants if variant.prompts}
    problems = [problem for one in rewording.values() for problem in _find_misworded(one, cases)]
    if problems:
        raise InvalidInput(problems)


def _find_misworded(variant: Variant, cases: Mapping[str, Sequence[Case]]) -> Iterator[Problem]:
    at = variant.at or Location(file=f"variant {variant.name}")
    for name in variant.prompts:
        if name not in cases:
            message = (
                f"variant {variant.name!r} rewords the test {name!r}, which no suite here has."
            )
            yield Problem(at=at, message=message, meant=did_you_mean(name, cases))
        elif any(case.user is not None for case in cases[name]):
            yield Problem(
                at=at,
                message=f"variant {variant.name!r} rewords the test {name!r}, whose user is "
                "simulated and writes its own messages.",
                meant="Remove the test from 'prompts:'.",
            )


def list_decoy_servers(variants: Iterable[Variant]) -> tuple[str, ...]:
    """Return the servers whose tools ``variants`` add, each once."""
    added = (one for variant in variants for one in variant.add)
    return tuple(dict.fromkeys(one.server for one in added if one.server is not None))
