"""Changes of the arguments of a call: values beyond what a tool expects, or of another type.

Beyond what it expects are numbers, words outside of an enumeration, and made-up cursors. Of another
type are null, lists, objects and numbers as text: a check that expects a text may let a list pass,
a filter that is null may be no filter, and an object may reach the database as a condition. A
server that does not validate may end on them. A change of nothing has its objects, lists and texts
empty: a policy may look at what is changed, let that pass, and answer with what is stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from harness.judging import fold_text
from harness.probing.arguments.argument_names import names_id
from harness.types import JsonObject, dataclass


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """A change of the arguments of a call, or of what is sent with them."""

    words: str
    """What is changed: ``'person_id' in other case``."""
    changed: JsonObject = field(default_factory=dict)
    """The changed arguments; the others stay."""
    wild: tuple[str, ...] = ()
    """Those of them that name no record, so that the answer may be about any."""
    same: bool = False
    """Whether the changed call still asks for the same record."""
    is_risky: bool = False
    """Whether a simple server may end on it: no schema allows its arguments, or no tool has its
    name."""
    meta: JsonObject = field(default_factory=dict)
    """Entries that are added to ``_meta`` of the request."""
    tool: str | None = None
    """Another name under which the tool is called."""


def get_argument_schema(schema: JsonObject, name: str) -> Mapping[str, Any]:
    """Return what an input schema says of the argument ``name``; empty if nothing."""
    declared = schema.get("properties")
    part = declared.get(name) if isinstance(declared, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def get_argument_type(part: Mapping[str, Any]) -> str | None:
    """Return the type of a declared argument, ignoring ``null``; ``None`` if it has none."""
    return next((kind for kind in _list_types(part) if kind != "null"), None)


def takes_null(part: Mapping[str, Any]) -> bool:
    """Whether a declared argument may be ``null``: it is then no more than left out."""
    return "null" in _list_types(part) or ("default" in part and part["default"] is None)


def _list_types(part: Mapping[str, Any]) -> list[str]:
    # Pydantic declares an optional argument as "anyOf", with its types one level below.
    options = [part, *(one for one in part.get("anyOf") or () if isinstance(one, Mapping))]
    found: list[str] = []
    for one in options:
        kinds = one.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        found += [kind for kind in kinds if isinstance(kind, str)]
    return found


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
                yield ArgumentChange(f"{name!r} set to {str(flag).lower()}", {name: flag})
    elif isinstance(words, list):
        for word in words[:_MOST_WORDS]:
            yield ArgumentChange(f"{word!r} as {name!r}", {name: word})
    elif kind in ("integer", "number"):
        for number in _list_numbers(name):
            yield ArgumentChange(f"{name!r} set to {number}", {name: number})
    elif kind == "object":
        given = value if isinstance(value, Mapping) else {}
        for path, changed in _change_nested(part, given, 1):
            yield ArgumentChange(f"{name}.{path}", {name: changed})


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
                yield ArgumentChange(words_of, {name: field}, is_risky=isinstance(words, list))
        if isinstance(words, list) and all(isinstance(word, str) for word in words):
            for word in ("harness_unknown", "all"):
                if word not in words:
                    unlisted = f"{word!r} as {name!r}"
                    yield ArgumentChange(unlisted, {name: word}, wild=(name,), is_risky=True)
    if cursor is not None and cursor not in arguments:
        for made_up in CURSORS:
            yield ArgumentChange(f"the made-up cursor {made_up!r}", {cursor: made_up})


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
        f"{words} as {name!r}",
        {changed: value},
        wild=() if same else (changed,),
        same=same,
        is_risky=True,
    )


def empty_arguments(arguments: JsonObject) -> Iterator[ArgumentChange]:
    """Yield each argument that is no id, empty or left out."""
    for name, value in arguments.items():
        if isinstance(value, dict | list) and value:
            yield ArgumentChange(f"an empty {name!r}", {name: type(value)()}, same=True)
        # An empty id would ask for another record, and be no change of nothing.
        elif isinstance(value, str) and value and not names_id(name):
            yield ArgumentChange(f"an empty {name!r}", {name: ""}, same=True)
