"""The enum, examples and default of a parameter, wherever its schema has them.

An optional parameter is often declared as ``anyOf`` a type and ``null``; its enum is then in the
alternative and not beside the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from harness.types import JsonObject

Facet: TypeAlias = Literal["enum", "examples", "default"]
"""A part of a parameter's schema that consists of values."""

_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def get_facet(schema: JsonObject, key: Facet) -> Any:
    """Return the value of ``key`` in ``schema`` or in its first alternative that has one."""
    if schema.get(key) is not None:
        return schema[key]
    return next(
        (
            option[key]
            for alternatives in _ALTERNATIVES
            for option in _list_options(schema, alternatives)
            if isinstance(option, Mapping) and option.get(key) is not None
        ),
        None,
    )


def replace_facet(schema: JsonObject, key: Facet, value: tuple[Any, ...]) -> JsonObject:
    """Return ``schema`` with the value of ``key`` replaced.

    ``value`` has the new value as its only item; an empty one removes the key. A new key is added
    at the top level.
    """
    # In the alternative that has it: beside it, the old value would still be read.
    if key not in schema:
        for alternatives in _ALTERNATIVES:
            options = list(_list_options(schema, alternatives))
            for place, option in enumerate(options):
                if isinstance(option, Mapping) and option.get(key) is not None:
                    options[place] = replace_facet(option, key, value)
                    return {**schema, alternatives: options}
    rest = {name: part for name, part in schema.items() if name != key}
    return {**rest, key: value[0]} if value else rest


def _list_options(schema: JsonObject, alternatives: str) -> list[Any]:
    options = schema.get(alternatives)
    return options if isinstance(options, list) else []
