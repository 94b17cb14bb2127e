"""The metaschema of draft 2020-12 in one piece.

The published one refers to seven vocabularies, each of which looks at every part of a schema and
leads back to the whole: to validate by it takes three times as long.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # has no stubs


@cache
def get_metaschema(kind: Any) -> Any:
    """Return the metaschema of the draft of ``kind``, one of the library's validators."""
    meta = kind.META_SCHEMA
    if kind is not Draft202012Validator:
        return meta
    parts = [
        REGISTRY.contents(f"{meta['$id'].rpartition('/')[0]}/{one['$ref']}")
        for one in meta["allOf"]
    ]
    whole = {
        "$schema": meta["$schema"],
        "type": meta["type"],
        "properties": {},
        "$defs": {},
    }
    # The whole comes last: its own properties replace those of the vocabularies.
    for part in (*parts, meta):
        for word in ("properties", "$defs"):
            whole[word] |= _within_the_whole(part.get(word, {}))
    return whole


def _within_the_whole(value: Any) -> Any:
    """Return ``value``, a part of a vocabulary, with references to where the whole has it."""
    if isinstance(value, list):
        return [_within_the_whole(one) for one in value]
    if not isinstance(value, dict):
        return value
    # Each vocabulary leads back to the whole in this way, which now is one schema.
    if "$dynamicRef" in value and isinstance(value["$dynamicRef"], str):
        return {"$ref": "#"}
    return {
        key: f"#{one.rpartition('#')[2]}"
        if key == "$ref" and isinstance(one, str)
        else _within_the_whole(one)
        for key, one in value.items()
    }
