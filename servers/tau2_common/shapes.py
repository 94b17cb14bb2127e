"""JSON Schemas of results, in a few words: closed records, lists of them, and records by id."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
FLAG: Final[Schema] = {"type": "boolean"}


def record(**fields: Schema) -> Schema:
    """Return the schema of an object that has all these fields and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def listed(item: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def by_id(item: Schema) -> Schema:
    """Return the schema of an object whose keys are ids."""
    return {"type": "object", "additionalProperties": item}


def one_of(*options: str) -> Schema:
    """Return the schema of one of these texts."""
    return {"type": "string", "enum": list(options)}


def either(*options: Schema) -> Schema:
    """Return the schema of a value that fits one of these."""
    return {"anyOf": list(options)}


def or_null(shape: Schema) -> Schema:
    """Return the schema of such a value or null."""
    return either(shape, {"type": "null"})


ADDRESS: Final = record(address1=TEXT, address2=TEXT, city=TEXT, country=TEXT, state=TEXT, zip=TEXT)
NAME: Final = record(first_name=TEXT, last_name=TEXT)
CREDIT_CARD: Final = record(source=one_of("credit_card"), id=TEXT, brand=TEXT, last_four=TEXT)
