"""The axes of a trial beside case, model, identity and repeat.

Plan, key, log, resume, shards, merging, comparison, grids and reports iterate over `AXES`: whoever
adds an axis declares it here. What its values do while a trial runs is read from
`harness.runner.planning.plan.Job.point`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from harness.base import UsageError, canonical_json, did_you_mean, digest_json
from harness.suites.attacks.reading import (
    choose_attacks,
    encode_attack,
    put_under_attack,
    suits_attack,
)
from harness.suites.faults import choose_faults, suits_case
from harness.suites.variants import read_variants_file
from harness.types import Attack, Case, FaultSet, JsonObject, Suite, Variant, dataclass

DEFAULT = "none"
"""What asks for the default among values of an axis."""


def _keep_case(case: Case, _: Any) -> Case:
    return case


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that may differ between trials of the same case with the same model.

    A value has a ``name``, which is unique in a run. The default is no value: ``None``, which is
    absent in logs and null in outputs.
    """

    name: str
    """Its key in logs and JSON, and its column in CSV and SQL."""
    doc: str
    """What its column says, in a sentence."""
    choose: Callable[[Suite, Any], Sequence[Any]]
    """``(suite, request of the run) → the values to run``; ``None`` is the default."""
    describe: Callable[[Any], JsonObject]
    """A value → what the log's header says of it: all that determines a trial, its ``digest``, and
    ``words`` for people."""
    reword: Callable[[Case, Any], Case] = _keep_case
    """``(case, value) → the case as it is asked``."""
    suits: Callable[[Case, Any], bool] = lambda _case, _value: True
    """``(case, value) → whether the case is run at that value``."""
    disturbs: bool = False
    """Whether trials at its values are judged beside the same without one, in tables of their own.
    """


_DIGITS = 12
"""Length of a digest in texts for people."""


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
    # A name that is given twice is one value: equal trials would have equal keys.
    for name in dict.fromkeys(wanted):
        for variant in _find_variants(suite, name):
            label = DEFAULT if variant is None else variant.name
            # The same variant by its name and by its file is no contradiction.
            if found.get(label, variant) != variant:
                raise UsageError(f"two different variants are named {label!r}")
            found[label] = variant
    return tuple(found.values())


def _find_variants(suite: Suite, name: str) -> Sequence[Variant | None]:
    if name == DEFAULT:
        return (None,)
    path, _, only = name.rpartition(":")
    # By the ending: a variant's name may have a colon, too.
    if not _is_file(path):
        path, only = name, ""
    if _is_file(path):
        own = read_variants_file(Path(path))
        known = {variant.name: variant for variant in own}
        return [_require_variant(known, only, path)] if only else own
    place = f"suite {suite.name!r}"
    return [_require_variant({variant.name: variant for variant in suite.variants}, name, place)]


def _is_file(text: str) -> bool:
    return Path(text).suffix.lower() in {".yml", ".yaml"}


def _require_variant(known: Mapping[str, Variant], name: str, where: str) -> Variant:
    if name in known:
        return known[name]
    listed = (
        f"It has {', '.join(known)}." if known else "It has none; write them below 'variants:'."
    )
    message = f"there is no variant {name!r} in {where}"
    raise UsageError(message, meant=did_you_mean(name, known) or listed)


def describe_variant(variant: Variant) -> JsonObject:
    """Return the changes of a variant, their digest, and what they touch in words."""
    # Without place and description: to move or to explain a variant does not change its trials.
    edits = json.loads(canonical_json(replace(variant, at=None, description=None)))
    words = "; ".join(_describe_changes(variant))
    return {"digest": digest_json(edits)[:_DIGITS], "words": words, "edits": edits}


def _describe_changes(variant: Variant) -> Iterator[str]:
    if variant.tools:
        yield f"edits {', '.join(variant.tools)}"
    if variant.instructions is not None:
        without = variant.instructions.text == ""
        yield "no instructions of the server" if without else "other instructions of the server"
    if variant.order is not None:
        yield "another order"
    if decoys := sum(one.count for one in variant.add):
        yield f"{decoys} decoys"
    if variant.prompts:
        yield f"{len(variant.prompts)} prompts in other words"
    if variant.prefix:
        yield f"names with {variant.prefix!r}"
    if variant.max_result_tokens is not None:
        yield f"results cut at {variant.max_result_tokens:,} tokens"
    if variant.text_only:
        yield "the text of results alone"
    if variant.offer_resources:
        yield "tools to read resources"
    if variant.tool_search is not None:
        yield f"a search beyond {variant.tool_search.beyond:,} tools"
    yield from _describe_defences(variant)


def _describe_defences(variant: Variant) -> Iterator[str]:
    if variant.mark_results is not None:
        yield f"results marked by {variant.mark_results}"
    if variant.tool_filter == "model":
        yield "tools chosen by the model from the prompt"
    elif variant.tool_filter is not None:
        yield f"the {variant.tool_filter:,} tools that fit the prompt best"
    if variant.block:
        yield f"blocks {', '.join(variant.block)}"


def _reword_by_variant(case: Case, variant: Variant) -> Case:
    words = variant.prompts.get(case.name)
    return case if words is None else case.with_prompt(words)


VARIANT = Axis(
    name="variant",
    doc="The variant of the tool list that the model saw; null: the server's own list.",
    choose=lambda suite, request: choose_variants(suite, request.variants),
    describe=describe_variant,
    reword=_reword_by_variant,
)


def _describe_faults(value: FaultSet) -> JsonObject:
    """Return the faults of a value, their digest, and what they do in words."""
    edits = [asdict(fault) for fault in value.faults]
    words = "; ".join(fault.words for fault in value.faults)
    return {"digest": digest_json(edits)[:_DIGITS], "words": words, "faults": edits}


FAULT = Axis(
    name="fault",
    doc="What went wrong between server and model; null: nothing.",
    choose=lambda suite, request: choose_faults(suite, request.faults, request.fault),
    describe=_describe_faults,
    suits=suits_case,
    disturbs=True,
)


def _describe_attack(value: Attack) -> JsonObject:
    """Return an attack, its digest, and what it is in words."""
    edits = encode_attack(value)
    return {"digest": digest_json(edits)[:_DIGITS], "words": value.words, "attack": edits}


ATTACK = Axis(
    name="attack",
    doc="The attack that was planted; null: none.",
    choose=lambda suite, request: choose_attacks(suite, request.attacks),
    describe=_describe_attack,
    reword=put_under_attack,
    suits=suits_attack,
    disturbs=True,
)


Point: TypeAlias = Mapping[str, Any]
"""Name of an axis → the value itself, without axes at their default."""

AXES: tuple[Axis, ...] = (VARIANT, FAULT, ATTACK)
"""In the order of an entrant's name."""


def list_points(suite: Suite, request: Any) -> list[Point]:
    """Return every combination of the values that ``request`` wants of ``suite``."""
    chosen = product(*(axis.choose(suite, request) for axis in AXES))
    return [
        {axis.name: value for axis, value in zip(AXES, values, strict=True) if value is not None}
        for values in chosen
    ]


def list_disturbances(axes: Mapping[str, str]) -> list[str]:
    """Return the values among ``axes``, which may have other facts too, that disturb a trial."""
    return [axes[axis.name] for axis in AXES if axis.disturbs and axis.name in axes]


def name_values(point: Point) -> dict[str, str]:
    """Return the names of the values at ``point``, by axis: `Trial.axes`."""
    return {axis: value.name for axis, value in point.items()}


def describe_values(points: Sequence[Point]) -> dict[str, dict[str, JsonObject]]:
    """Return what the log's header says of the values at ``points``: axis → name → description."""
    described: dict[str, dict[str, JsonObject]] = {}
    for axis in AXES:
        values = {point[axis.name].name: point[axis.name] for point in points if axis.name in point}
        if values:
            described[axis.name] = {name: axis.describe(one) for name, one in values.items()}
    return described


def suits_point(case: Case, point: Point) -> bool:
    """Return whether ``case`` is run at ``point``."""
    return all(axis.suits(case, point[axis.name]) for axis in AXES if axis.name in point)


def reword_case(case: Case, point: Point) -> Case:
    """Return ``case`` as it is asked at ``point``."""
    for axis in AXES:
        if axis.name in point:
            case = axis.reword(case, point[axis.name])
    return case
