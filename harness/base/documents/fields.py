"""Kinds of values for keys of a suite: how each is parsed, and its JSON Schema for editors.

A `Field` has both, so that the reader and the JSON Schema cannot differ. Every ``parse`` raises
`InvalidValue` for an invalid value. A key without a value counts as absent, so ``parse`` gets null
only if its field takes null.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from types import NoneType
from typing import Any, TypeVar

from harness.base.errors import InvalidValue, did_you_mean
from harness.types import JsonObject, dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """The value of one key."""

    schema: JsonObject
    """JSON Schema of its value, with a description."""
    parse: Callable[[Any], Any]
    """Converts the value for the reader; raises `InvalidValue`."""
    required: bool = False
    """Whether the key is required."""
    takes_null: bool = False
    """Whether null is parsed like any value, for keys where a forgotten value must be an error."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The keys of one kind of mapping."""

    fields: Mapping[str, Field]
    """All known keys."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Keys that are often written here by mistake → what to do instead."""


TEXT: JsonObject = {"type": "string", "pattern": r"\S"}
"""Schema of text that is not blank."""


def array_of(items: JsonObject, **bounds: Any) -> JsonObject:
    """Return the schema of a list of ``items``."""
    return {"type": "array", **bounds, "items": items}


def mapping_of(values: JsonObject, **bounds: Any) -> JsonObject:
    """Return the schema of a mapping from any names to ``values``."""
    return {"type": "object", **bounds, "additionalProperties": values}


def object_of(properties: JsonObject, *required: str) -> JsonObject:
    """Return the schema of a mapping with these keys and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def any_of(*schemas: JsonObject) -> JsonObject:
    """Return the schema of a value that fits one of ``schemas``."""
    return {"anyOf": [*schemas]}


def refer_to(definition: str) -> JsonObject:
    """Return the schema that stands under ``$defs`` by that name."""
    return {"$ref": f"#/$defs/{definition}"}


def build_field(
    description: str,
    schema: JsonObject,
    parse: Callable[[Any], Any],
    *,
    required: bool = False,
    takes_null: bool = False,
) -> Field:
    """Return the field of values that fit ``schema`` and that ``parse`` converts."""
    described = {**schema, "description": description}
    return Field(schema=described, parse=parse, required=required, takes_null=takes_null)


def text_field(description: str, *, required: bool = False) -> Field:
    """Text of any length that is not blank: a prompt, a description."""
    return build_field(description, TEXT, _parse_text, required=required)


def line_field(description: str, *, required: bool = False) -> Field:
    """A name: one line without spaces around it and without control characters."""
    return build_field(description, TEXT, parse_single_line, required=required)


def integer_field(description: str, *, least: int, default: int | None = None) -> Field:
    """A whole number from ``least`` up; ``5.0`` is one, as in JSON."""

    def parse(value: Any) -> int:
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        # `True` is an int in Python.
        if isinstance(value, bool) or not whole or value < least:
            found = describe_value(value)
            raise InvalidValue(f"expected a whole number from {least} up, found {found}")
        return int(value)

    schema = _add_default({"type": "integer", "minimum": least}, default)
    return build_field(description, schema, parse)


def decimal_field(
    description: str, *, unit: str, positive: bool = True, default: float | None = None
) -> Field:
    """A number with a ``unit``; above zero if ``positive``, else not below zero."""
    bound = {"exclusiveMinimum": 0} if positive else {"minimum": 0}
    words = f"a number of {unit} above 0" if positive else f"a number of {unit}, 0 or more"

    def parse(value: Any) -> float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if not fits or not 0 <= value <= _LARGEST or (positive and value == 0):
            raise InvalidValue(f"expected {words}, found {describe_value(value)}")
        return float(value)

    schema = _add_default({"type": "number", **bound, "maximum": _LARGEST}, default)
    return build_field(description, schema, parse)


def flag_field(description: str) -> Field:
    """A boolean."""

    def parse(value: Any) -> bool:
        if not isinstance(value, bool):
            raise InvalidValue(f"expected true or false, found {describe_value(value)}")
        return value

    return build_field(description, {"type": "boolean", "default": False}, parse)


def choice_field(description: str, options: Sequence[str]) -> Field:
    """One of several words; the first is the default."""

    def parse(value: Any) -> str:
        if value in options and isinstance(value, str):
            return value
        near = did_you_mean(value, options) if isinstance(value, str) else None
        message = f"expected one of {', '.join(options)}; found {describe_value(value)}"
        raise InvalidValue(message, meant=near)

    schema = {"type": "string", "enum": list(options), "default": options[0]}
    return build_field(description, schema, parse)


def lines_field(description: str) -> Field:
    """A list of names in order; duplicates are allowed."""
    return build_field(description, array_of(TEXT), partial(parse_items, parse_single_line))


def arguments_field(description: str) -> Field:
    """A list of texts for a process; empty texts are allowed."""
    schema = array_of({"type": "string"})
    return build_field(description, schema, partial(parse_items, _parse_argument))


def mapping_field(description: str) -> Field:
    """A mapping from text to any JSON value."""
    return build_field(description, {"type": "object"}, parse_mapping)


def texts_by_name_field(description: str) -> Field:
    """A mapping from names to texts, such as environment variables."""
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    return build_field(description, schema, partial(parse_entries, _parse_argument))


def parse_mapping(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is a mapping."""
    if not isinstance(value, dict):
        found = describe_value(value)
        raise InvalidValue(f"expected a mapping (lines of 'key: value'), found {found}")
    return value


def parse_list(value: Any) -> list[Any]:
    """Return ``value`` if it is a list."""
    if not isinstance(value, list):
        found = describe_value(value)
        raise InvalidValue(f"expected a list (lines that begin with '- '), found {found}")
    return value


SHARE: JsonObject = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
"""Schema of what `parse_share` reads."""


def parse_share(value: Any, shown: Callable[[Any], str] | None = None) -> float:
    """Return a share of a whole, above 0 and up to 1; ``shown`` formats any other value.

    Raises:
        InvalidValue: it is not a share; the advice tells how to write a percentage.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:
        meant = "Write 80 % as 0.8." if is_number and value > 1 else None
        told = (shown or describe_value)(value)
        raise InvalidValue(f"expected a share above 0 and up to 1, found {told}", meant=meant)
    return float(value)


def parse_single_line(value: Any) -> str:
    """Return ``value`` if it is a name: text on one line, without spaces around it."""
    name = _parse_text(value)
    if name != name.strip():
        raise InvalidValue(f"there are spaces around this name: {describe_value(name)}")
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in name):
        raise InvalidValue(f"expected a name on one line, found {describe_value(name)}")
    return name


def describe_value(value: Any) -> str:
    """Return a short description of an unexpected value."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


_LARGEST = 1_000_000_000  # thirty years in seconds; more dollars than any run should cost
_LONGEST_SHOWN = 60


def _add_default(schema: dict[str, Any], default: float | None) -> dict[str, Any]:
    return schema if default is None else {**schema, "default": default}


def _parse_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    meant = None
    if not isinstance(value, dict | list | NoneType):
        meant = f'Quote it if it is text: "{json.dumps(value)}".'
    raise InvalidValue(f"expected text, found {describe_value(value)}", meant=meant)


def _parse_text(value: Any) -> str:
    if not _parse_string(value).strip():
        raise InvalidValue("expected text, found only spaces")
    return str(value)


def _parse_argument(value: Any) -> str:
    """Parse text for a process. It may be a secret, so messages must not show it."""
    if not isinstance(value, str):
        raise InvalidValue("expected text", meant="Write it in quotes.")
    if "\0" in value:
        raise InvalidValue("a text for a process must not contain a NUL character")
    return value


def require_text(expected: str, value: Any) -> str:
    """Return ``value`` if it is text that is not blank; ``expected`` names it in the message."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue(f"expected {expected}, found {describe_value(value)}")
    return value


def parse_items(parse: Callable[[Any], T], value: Any) -> tuple[T, ...]:
    """Parse each item of a list."""
    return tuple(parse_part(index, parse, item) for index, item in enumerate(parse_list(value)))


def parse_entries(parse: Callable[[Any], T], value: Any) -> dict[str, T]:
    """Parse each value of a mapping."""
    return {name: parse_part(name, parse, part) for name, part in parse_mapping(value).items()}


def parse_part(step: str | int, parse: Callable[[Any], T], value: Any) -> T:
    """Parse a part of a value, so that an error has its path."""
    try:
        return parse(value)
    except InvalidValue as error:
        raise InvalidValue(error.message, path=(step, *error.path), meant=error.meant) from error


# 1 stands for 1.0, too, which YAML reads from a version without quotes.
VERSIONS = (1, "1", "1.0", "1.0.0")
"""Allowed values of ``mxcp:``."""


def parse_version(value: Any) -> Any:
    """Parse the version of a file's format."""
    # `True` equals 1.
    if isinstance(value, bool) or value not in VERSIONS:
        message = f"expected version 1 of the format, found {describe_value(value)}"
        raise InvalidValue(message, meant="Write 'mxcp: 1'.")
    return value


def parse_mapping_or_line(value: Any) -> Any:
    """Parse a mapping, or one line of text."""
    return value if isinstance(value, dict) else parse_single_line(value)


_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 1000  # Python refuses to print integers of more than 4300 digits
_NUMBER_STARTS = frozenset("+-.0123456789")


def resolve_scalar(word: str) -> Any:
    """Return the JSON value of an unquoted ``word``.

    Raises:
        ValueError: it is a number that JSON cannot express.
    """
    if word in _WORDS:
        return _WORDS[word]
    # Most words are text, and no pattern need be tried for them.
    return _parse_number(word) if word[0] in _NUMBER_STARTS else word


def _parse_number(word: str) -> Any:
    if len(word) > _MAX_DIGITS and (_INTEGER.fullmatch(word) or _BASED.fullmatch(word)):
        raise ValueError("this number has too many digits")
    if _INTEGER.fullmatch(word):
        return int(word)
    if _BASED.fullmatch(word):
        return int(word, 0)
    if _FRACTION.fullmatch(word):
        number = float(word)
        if math.isfinite(number):
            return number
        raise ValueError("this number is too large")
    if _NOT_FINITE.fullmatch(word):
        raise ValueError(f"{word} is not a number in JSON")
    return word
