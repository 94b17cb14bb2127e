"""The axis of variants: the tool list, and the words of the user, that a model sees instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from harness.base import UsageError, canonical_json, did_you_mean, digest_json
from harness.suites.axes.axis import DEFAULT, Axis
from harness.suites.variants import read_variants_file
from harness.types import Case, JsonObject, Suite, Variant

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
    raise UsageError(
        f"there is no variant {name!r} in {where}", meant=did_you_mean(name, known) or listed
    )


def describe_variant(variant: Variant) -> JsonObject:
    """Return the changes of a variant, their digest, and what they touch in words."""
    # Without place and description: to move or to explain a variant does not change its trials.
    edits = json.loads(canonical_json(asdict(replace(variant, at=None, description=None))))
    return {
        "digest": digest_json(edits)[:_DIGITS],
        "words": "; ".join(_describe_changes(variant)),
        "edits": edits,
    }


def _describe_changes(variant: Variant) -> Iterator[str]:
    if variant.tools:
        yield f"edits {', '.join(variant.tools)}"
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
    if variant.tool_search is not None:
        yield f"a search beyond {variant.tool_search.beyond:,} tools"


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
