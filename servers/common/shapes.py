"""The arguments and results of a tool, from its JSON Schemas: the names for a policy file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldShape:
    """What may be done to a field of a result; where it occurs several times, to all of them."""

    optional: bool
    """The result obeys its schema without it."""
    text: bool
    """The result obeys its schema with any text in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolShape:
    """Names that a rule about one tool may use."""

    parameters: frozenset[str]
    """Its arguments."""
    fields: Mapping[str, FieldShape]
    """The fields of its result, at any depth."""


def shape_of(input_schema: Mapping[str, Any], output_schema: Mapping[str, Any]) -> ToolShape:
    """Return the shape of a tool with these JSON Schemas."""
    fields: dict[str, FieldShape] = {}
    for name, schema, required in _properties(output_schema):
        seen = fields.get(name, FieldShape(optional=True, text=True))
        fields[name] = FieldShape(
            optional=seen.optional and not required, text=seen.text and _takes_any_text(schema)
        )
    return ToolShape(parameters=frozenset(input_schema.get("properties", {})), fields=fields)


def _properties(schema: Any) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Yield ``(name, schema, required)`` of every property of every object in ``schema``."""
    if isinstance(schema, list):
        for part in schema:
            yield from _properties(part)
    elif isinstance(schema, dict):
        required = schema.get("required", ())
        for name, part in schema.get("properties", {}).items():
            yield name, part, name in required
            yield from _properties(part)
        for keyword, part in schema.items():
            if keyword != "properties":
                yield from _properties(part)


def _takes_any_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and not schema.keys() & {
        "enum",
        "const",
        "pattern",
        "format",
        "maxLength",
    }
