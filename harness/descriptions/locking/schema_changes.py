"""How a change of a JSON Schema affects whoever sends, or reads, the values that it describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from harness.base import canonical_json
from harness.types import JsonObject

ChangeKind: TypeAlias = Literal["breaking", "compatible", "wording"]
"""``breaking``: what worked may fail now. ``compatible``: what worked still does. ``wording``: only
what a model is told has changed."""
SchemaChange: TypeAlias = tuple[ChangeKind, str]
"""A change, and what it is in words."""

_WORDS = frozenset({"description", "title", "examples", "$comment", "default", "deprecated"})
_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_NAMED = ("properties", "$defs", "definitions")
_NESTED = ("items", "additionalProperties")
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def compare_schemas(
    old: JsonObject, new: JsonObject, where: str, *, is_input: bool
) -> Iterator[SchemaChange]:
    """Yield each change from ``old`` to ``new``, which describe ``where``.

    Of arguments (``is_input``), what becomes narrower breaks calls; of results, what becomes wider
    breaks readers.
    """
    yield from _compare_types(old, new, where, is_input=is_input)
    yield from _compare_named(old, new, where, is_input=is_input)
    yield from _compare_required(old, new, where, is_input=is_input)
    for key in sorted((old.keys() | new.keys()) - {"type", "required", *_NAMED}):
        was, now = old.get(key), new.get(key)
        if was == now and (key in old) == (key in new):
            continue
        if key in _WORDS:
            yield "wording", f"{where}: {key} changed"
        elif key in ("enum", "anyOf", "oneOf") and isinstance(was, list) and isinstance(now, list):
            yield from _compare_choices(key, was, now, where, is_input=is_input)
        elif key in _NESTED and isinstance(was, Mapping) and isinstance(now, Mapping):
            inner = f"{where}[]" if key == "items" else f"{where}.*"
            yield from compare_schemas(was, now, inner, is_input=is_input)
        else:
            narrower = _is_narrower(key, was, now)
            # What cannot be told narrower from wider may be either.
            breaks = narrower is None or narrower == is_input
            words = f"{where}: {key} was {_show(was)}, is {_show(now)}"
            yield "breaking" if breaks else "compatible", words


def _compare_types(
    old: JsonObject, new: JsonObject, where: str, *, is_input: bool
) -> Iterator[SchemaChange]:
    was, now = _list_types(old), _list_types(new)
    if was == now:
        return
    lost = was - now - ({"integer"} if "number" in now else set())
    gained = now - was - ({"integer"} if "number" in was else set())
    words = f"{where}: type was {' | '.join(sorted(was))}, is {' | '.join(sorted(now))}"
    yield "breaking" if (lost if is_input else gained) else "compatible", words


def _list_types(schema: JsonObject) -> frozenset[str]:
    named = schema.get("type")
    if named is None:
        return _TYPES
    return frozenset(named if isinstance(named, list) else [str(named)])


def _compare_named(
    old: JsonObject, new: JsonObject, where: str, *, is_input: bool
) -> Iterator[SchemaChange]:
    for key in _NAMED:
        was, now = _get_object(old, key), _get_object(new, key)
        required = new.get("required") or ()
        for name in dict.fromkeys([*was, *now]):
            inner = f"{where}.{name}" if key == "properties" else f"{where} ({name})"
            if name not in now:
                yield "breaking" if key == "properties" else "compatible", f"{inner} was removed"
            elif name not in was:
                needed = is_input and key == "properties" and name in required
                words = f"{inner} is new{' and required' if needed else ''}"
                yield "breaking" if needed else "compatible", words
            elif isinstance(was[name], Mapping) and isinstance(now[name], Mapping):
                yield from compare_schemas(was[name], now[name], inner, is_input=is_input)
            elif was[name] != now[name]:
                yield "breaking", f"{inner} was {_show(was[name])}, is {_show(now[name])}"


def _compare_required(
    old: JsonObject, new: JsonObject, where: str, *, is_input: bool
) -> Iterator[SchemaChange]:
    was, now = set(old.get("required") or ()), set(new.get("required") or ())
    known = _get_object(old, "properties").keys() & _get_object(new, "properties").keys()
    for name in sorted((now - was) & known):
        yield "breaking" if is_input else "compatible", f"{where}.{name} is required now"
    for name in sorted((was - now) & known):
        words = f"{where}.{name} is no longer required"
        yield "compatible" if is_input else "breaking", words


def _compare_choices(
    key: str, was: list[Any], now: list[Any], where: str, *, is_input: bool
) -> Iterator[SchemaChange]:
    before, after = ({canonical_json(_drop_words(one)): one for one in part} for part in (was, now))
    for text in sorted(before.keys() - after.keys()):
        kind: ChangeKind = "breaking" if is_input else "compatible"
        yield kind, f"{where}: {key} lost {_show(before[text])}"
    for text in sorted(after.keys() - before.keys()):
        kind = "compatible" if is_input else "breaking"
        yield kind, f"{where}: {key} gained {_show(after[text])}"
    if before.keys() == after.keys():
        yield "wording", f"{where}: order or words of {key} changed"


def _drop_words(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    return {key: value for key, value in schema.items() if key not in _WORDS}


def _is_narrower(key: str, was: Any, now: Any) -> bool | None:
    """Whether a keyword allows less than before; ``None`` if that cannot be told."""
    if key == "additionalProperties" and isinstance(was, bool | None) and isinstance(now, bool):
        return now is False
    if was is None or now is None:
        return was is None
    if isinstance(was, int | float) and isinstance(now, int | float):
        if key in _LOWER:
            return now > was
        if key in _UPPER:
            return now < was
    return None


def _get_object(schema: JsonObject, key: str) -> JsonObject:
    found = schema.get(key)
    return found if isinstance(found, Mapping) else {}


def _show(value: Any) -> str:
    text = "absent" if value is None else canonical_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 80
