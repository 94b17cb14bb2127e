"""Values beyond what a tool expects: numbers, words outside of an enumeration, made-up cursors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from harness.judging import fold_text
from harness.probing.arguments.argument_change import (
    ArgumentChange,
    get_argument_schema,
    get_argument_type,
)
from harness.types import JsonObject

# As a limit it asks for everything, and it still fits 32 bits.
HUGE = 1_000_000_000
CURSORS = ("1000000000", "-1", "harness")
"""Cursors that no server gave: far behind the end, before the beginning, and none at all."""
# Parts of folded names: "page_size" and "maxRows" are limits, too.
_LIMITS = ("limit", "size", "count", "top", "max", "first", "rows", "take")
# An argument with one of these in its name may take the name of a field.
_CHOOSING = ("sort", "order", "field", "column", "select", "group", "include", "expand", "by")
# Each of these proposals is a call of each caller, so bounds keep a probe short.
_MOST_WORDS = 4
_MOST_FIELDS = 3
_MOST_LEVELS = 2


def propose_schema_values(
    schema: JsonObject, name: str, arguments: JsonObject
) -> Iterator[ArgumentChange]:
    """Yield the values of the argument ``name`` that the schema suggests."""
    part, value = get_argument_schema(schema, name), arguments.get(name)
    words, kind = part.get("enum"), get_argument_type(part)
    if kind == "boolean":
        for flag in (True, False):
            if flag is not value:
                yield ArgumentChange(
                    words=f"{name!r} set to {str(flag).lower()}", changed={name: flag}
                )
    elif isinstance(words, list):
        for word in words[:_MOST_WORDS]:
            yield ArgumentChange(words=f"{word!r} as {name!r}", changed={name: word})
    elif kind in ("integer", "number"):
        for number in _list_numbers(name):
            yield ArgumentChange(words=f"{name!r} set to {number}", changed={name: number})
    elif kind == "object":
        given = value if isinstance(value, Mapping) else {}
        for path, changed in _change_nested(part, given, 1):
            yield ArgumentChange(words=f"{name}.{path}", changed={name: changed})


def propose_outside_values(
    schema: JsonObject, arguments: JsonObject, withheld: Collection[str], cursor: str | None
) -> Iterator[ArgumentChange]:
    """Yield words that an enumeration lacks, and cursors that no server gave.

    Args:
        schema: The input schema.
        arguments: The arguments of the call.
        withheld: Names of the fields that are withheld from the caller.
        cursor: The argument that takes a cursor, if there is one.
    """
    declared = schema.get("properties")
    for name in declared if isinstance(declared, Mapping) else ():
        part = get_argument_schema(schema, name)
        words = part.get("enum")
        chooses = any(word in fold_text(name) for word in _CHOOSING)
        if isinstance(words, list) or (chooses and get_argument_type(part) == "string"):
            known = words if isinstance(words, list) else []
            # A list that has one withheld field is a list of fields, whatever its argument is
            # called.
            fields = [field for field in withheld if field not in known][:_MOST_FIELDS]
            for field in fields if chooses or set(known) & {*withheld} else ():
                words_of = f"the withheld field {field!r} as {name!r}"
                # Only an enumeration forbids the word: free text may be anything.
                yield ArgumentChange(
                    words=words_of, changed={name: field}, is_risky=isinstance(words, list)
                )
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            for word in ("harness_unknown", "all"):
                if word not in words:
                    unlisted = f"{word!r} as {name!r}"
                    yield ArgumentChange(
                        words=unlisted, changed={name: word}, wild=(name,), is_risky=True
                    )
    if cursor is not None and cursor not in arguments:
        for made_up in CURSORS:
            yield ArgumentChange(words=f"the made-up cursor {made_up!r}", changed={cursor: made_up})


def is_limit(name: str) -> bool:
    """Whether an argument of that name limits the number of results."""
    return any(word in fold_text(name) for word in _LIMITS)


def _list_numbers(name: str) -> tuple[int, ...]:
    # As a limit, 0 and -1 may mean "none"; elsewhere 0 is an ordinary value.
    return (HUGE, -1, 0) if is_limit(name) else (-1, HUGE)


def _change_nested(
    part: Mapping[str, Any], given: Mapping[str, Any], level: int
) -> Iterator[tuple[str, JsonObject]]:
    """Yield the change and the object with one number or flag in it set."""
    inner = part.get("properties")
    for name in inner if isinstance(inner, Mapping) else ():
        own = get_argument_schema(part, name)
        kind = get_argument_type(own)
        values: tuple[Any, ...] = ()
        if kind in ("integer", "number"):
            values = _list_numbers(name)
        elif kind == "boolean":
            values = (True, False)
        elif kind == "object" and level < _MOST_LEVELS:
            old = given.get(name)
            below = _change_nested(own, old if isinstance(old, Mapping) else {}, level + 1)
            for path, changed in below:
                yield f"{name}.{path}", {**given, name: changed}
        for value in values:
            yield f"{name} set to {str(value).lower()}", {**given, name: value}
