"""Arguments of another type than the schema's: null, lists, objects, numbers as text.

A check that expects a text may let a list pass, a filter that is null may be no filter, and an
object may reach the database as a condition. A server that does not validate may end on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.probing.arguments.argument_change import (
    ArgumentChange,
    get_argument_schema,
    get_argument_type,
    takes_null,
)
from harness.probing.arguments.ids import names_id
from harness.types import JsonObject

OPERATORS: Sequence[tuple[str, JsonObject]] = (
    ("a condition of MongoDB", {"$ne": ""}),
    ("another condition of MongoDB", {"$regex": ".*"}),
    ("a condition of an ORM", {"not": ""}),
)
"""Objects that are conditions in queries of databases."""
_NUMBER = 20
_MOST_INNER = 4


def propose_other_types(
    schema: JsonObject, arguments: JsonObject, ids: Mapping[str, Sequence[str]]
) -> Iterator[ArgumentChange]:
    """Yield each argument that ``schema`` declares, or that is sent, with values of other types."""
    declared = schema.get("properties")
    names = declared if isinstance(declared, Mapping) else {}
    for name in dict.fromkeys((*arguments, *names)):
        part, value = get_argument_schema(schema, name), arguments.get(name)
        kind = get_argument_type(part)
        if kind != "boolean" and not takes_null(
            part
        ):  # where it does, rows that come without the filter are no gain
            yield _build_change(name, "null", None)
        if kind == "string" or (kind is None and isinstance(value, str)):
            yield from _change_text(name, value, ids.get(name, ()))
        elif kind in ("integer", "number"):
            number = value if isinstance(value, int | float) else _NUMBER
            # The number that the call sends asks for the same as text; one made up for it does not.
            yield _build_change(name, "a number as text", str(number), same=name in arguments)
        elif kind == "boolean":
            yield _build_change(name, "a word for true", "true")
        elif kind == "array":
            for item in value[:1] if isinstance(value, list) else ():
                yield _build_change(name, "one item without its list", item)
        elif kind == "object" or isinstance(value, Mapping):
            yield from _change_object(name, part, value if isinstance(value, Mapping) else {})


def _change_text(name: str, value: Any, others: Sequence[str]) -> Iterator[ArgumentChange]:
    if not isinstance(value, str):
        # In an argument that the call leaves out, only a condition on an id selects records.
        if names_id(name):
            yield _build_change(name, *OPERATORS[0])
        return
    yield _build_change(name, "a list with it alone", [value], same=True)
    other = next((other for other in others if other != value), None)
    if other is not None:
        yield _build_change(name, "a list of it and another", [value, other])
    for words, condition in OPERATORS:
        yield _build_change(name, words, condition)
    yield _build_change(name, "an object with it", {"value": value, name: value}, same=True)
    yield _build_change(name, "true", value=True)
    yield _build_change(name, "a number", 0)


def _change_object(
    name: str, part: Mapping[str, Any], value: Mapping[str, Any]
) -> Iterator[ArgumentChange]:
    yield _build_change(name, "a list", [dict(value)])
    inner = part.get("properties")
    keys = dict.fromkeys((*value, *(inner if isinstance(inner, Mapping) else ())))
    for key in list(keys)[:_MOST_INNER]:
        for words, condition in (("null", None), OPERATORS[0]):
            yield _build_change(f"{name}.{key}", words, {**value, key: condition}, argument=name)


def _build_change(
    name: str, words: str, value: Any, *, same: bool = False, argument: str | None = None
) -> ArgumentChange:
    changed = argument or name
    return ArgumentChange(
        words=f"{words} as {name!r}",
        changed={changed: value},
        wild=() if same else (changed,),
        same=same,
        is_risky=True,
    )
