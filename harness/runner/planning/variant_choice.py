"""The variants of the tool list in a run, and their models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base import InvalidInput, Problem, UsageError, did_you_mean
from harness.models import get_traits
from harness.runlog import read_header
from harness.runner.planning.plan import describe_variant
from harness.suites import read_variants_file
from harness.types import Case, Location, ModelSpec, Suite, Variant

NO_VARIANT = "none"
"""The name of the server's own list among variants."""
JOINT = "+"
"""Joins the names of a model and of its variant."""


def choose_variants(suite: Suite, wanted: Sequence[str]) -> tuple[Variant | None, ...]:
    """Return the variants that ``wanted`` names, in order; ``None`` is the server's own list.

    A name is that of one of the suite's variants, or the path of a YAML file for all variants in
    it, or ``FILE:NAME`` for one of them.

    Raises:
        UsageError: there is no such variant, or two of one name.
        InvalidInput: a file of variants contains mistakes.
    """
    if not wanted:
        return (None,)
    found: dict[str, Variant | None] = {}
    for name in dict.fromkeys(wanted):
        for variant in _find_named(suite, name):
            label = NO_VARIANT if variant is None else variant.name
            if found.get(label, variant) != variant:
                raise UsageError(f"two different variants are named {label!r}")
            found[label] = variant
    return tuple(found.values())


def combine_variants(
    models: Iterable[ModelSpec], variants: Sequence[Variant | None]
) -> list[ModelSpec]:
    """Return each model once for each variant, named after both."""
    return [
        model
        if variant is None
        else replace(model, name=f"{model.name}{JOINT}{variant.name}", variant=variant)
        for model in models
        for variant in variants
    ]


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


def refuse_twins(models: Iterable[ModelSpec]) -> None:
    """Check that each model name stands for one variant across all suites.

    Raises:
        UsageError: two suites have different variants of one name.
    """
    known: dict[str, Variant | None] = {}
    for model in models:
        if known.setdefault(model.name, model.variant) != model.variant:
            assert model.variant is not None
            raise UsageError(
                f"two suites have different variants named {model.variant.name!r}",
                meant="Give each a name of its own, or run the suites one by one.",
            )


def refuse_recorded(models: Iterable[ModelSpec]) -> None:
    """Check that no model replays outputs that were made for another tool list.

    A recorded run may be replayed under the variant of its recording.

    Raises:
        UsageError: the outputs of a model were made for the server's own list, or for another.
    """
    for model in models:
        if model.variant is None:
            continue
        answers = get_traits(model.provider).answers
        if answers == "outputs" or (answers == "replies" and not _was_shown(model)):
            raise UsageError(
                f"{base_name(model)} repeats what was said to one tool list, and cannot be asked "
                f"about another, that of the variant {model.variant.name!r}",
                meant="Name a model that replies, or a run that was made with the variant.",
            )


def _was_shown(model: ModelSpec) -> bool:
    """Whether the run that ``model`` replays was made under its variant, whatever its name."""
    assert model.variant is not None
    wanted = describe_variant(model.variant)["edits"]
    made = read_header(Path(model.model_id)).models.values()
    edits = (facts["variant"]["edits"] for facts in made if facts.get("variant") is not None)
    return any({**one, "name": ""} == {**wanted, "name": ""} for one in edits)


def check_prompts(suites: Iterable[Suite], models: Mapping[str, Sequence[ModelSpec]]) -> None:
    """Check that every case that a variant rewords exists and has a prompt.

    ``suites`` have all their cases, ``models`` are those of each suite, by its name.

    Raises:
        InvalidInput: the error names every case that no suite has, or whose user is simulated.
    """
    cases: dict[str, list[Case]] = {}
    for suite in suites:
        for case in suite.cases:
            cases.setdefault(case.name, []).append(case)
    rewording = {
        model.variant.name: model.variant
        for each in models.values()
        for model in each
        if model.variant is not None and model.variant.prompts
    }
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


def list_decoy_servers(models: Iterable[ModelSpec]) -> tuple[str, ...]:
    """Return the servers whose tools the variants of ``models`` add, each once."""
    added = (one for model in models if model.variant is not None for one in model.variant.add)
    return tuple(dict.fromkeys(one.server for one in added if one.server is not None))


def base_name(spec: ModelSpec) -> str:
    """Return the name of the model without its variant."""
    return spec.name if spec.variant is None else spec.name.removesuffix(JOINT + spec.variant.name)


def _find_named(suite: Suite, name: str) -> Sequence[Variant | None]:
    if name == NO_VARIANT:
        return (None,)
    path, _, only = name.rpartition(":")
    if not _is_file(path):
        path, only = name, ""
    if _is_file(path):
        own = read_variants_file(Path(path))
        return (
            [_require_known({variant.name: variant for variant in own}, only, path)]
            if only
            else own
        )
    place = f"suite {suite.name!r}"
    return [_require_known({variant.name: variant for variant in suite.variants}, name, place)]


def _is_file(text: str) -> bool:
    return Path(text).suffix.lower() in {".yml", ".yaml"}


def _require_known(known: dict[str, Variant], name: str, where: str) -> Variant:
    if name in known:
        return known[name]
    listed = (
        f"It has {', '.join(known)}." if known else "It has none; write them below 'variants:'."
    )
    raise UsageError(
        f"there is no variant {name!r} in {where}", meant=did_you_mean(name, known) or listed
    )
