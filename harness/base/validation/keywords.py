"""Keywords of JSON Schema that jsonschema checks in more than linear time, within a budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from jsonschema.exceptions import ValidationError
from referencing.jsonschema import lookup_recursive_ref

from harness.base.regexes import BrokenPattern, program_size, search_pattern
from harness.base.validation.budget import enter_level, spend_on_reference, spend_steps

_CHARS_PER_STEP = 1_000
_SHOWN = 100  # choices that an error lists


_Errors: TypeAlias = Iterator[ValidationError]


def check_enum(_validator: Any, choices: Any, value: Any, _schema: Any) -> _Errors:
    """``enum``, in any draft."""
    # Paid before it is done, since an enum may have millions of choices.
    spend_steps(len(choices) // 16)
    if not any(_is_equal(choice, value) for choice in choices):
        more = f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else ""
        yield ValidationError(f"{value!r} is not one of {choices[:_SHOWN]!r}{more}")


def check_const(_validator: Any, expected: Any, value: Any, _schema: Any) -> _Errors:
    """``const``."""
    if not _is_equal(expected, value):
        yield ValidationError(f"{expected!r} was expected")


def check_unique_items(validator: Any, wanted: Any, value: Any, _schema: Any) -> _Errors:
    """``uniqueItems``, in linear time for any items."""
    if wanted and validator.is_type(value, "array"):
        seen = set()
        for text in map(to_comparable, value):
            if text in seen:
                yield ValidationError(f"{value!r} has non-unique elements")
                return
            seen.add(text)


def to_comparable(value: Any) -> str:
    """Return a text that is equal for equal JSON values: 1 and 1.0, but not 1 and true."""
    spend_steps(1)
    if isinstance(value, str):
        spend_steps(len(value) // _CHARS_PER_STEP)
        return json.dumps(value)
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(name)}:{to_comparable(value[name])}" for name in sorted(value))
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(to_comparable, value))}]"
    # 1.0 is the same number as 1 in JSON Schema.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return repr(value)


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping | list) and type(one) is type(other):
        return len(one) == len(other) and to_comparable(one) == to_comparable(other)
    # `True == 1` in Python, but not in JSON.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


_WORK_PER_STEP = 4_000
"""Instructions of a compiled pattern times characters that take at most as long as one step."""
_CODE_POINT = re.compile(
    r"(?P<before>(?<!\\)(?:\\\\)*)\\u(?:\{(?P<long>[0-9A-Fa-f]{1,6})\}|(?P<short>[0-9A-Fa-f]{4}))"
)


class UnsupportedPattern(Exception):
    """A regular expression that cannot be matched in linear time; the message has the reason."""


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches anywhere in ``text``.

    Raises:
        UnsupportedPattern: RE2 does not support it.
        OutOfSteps: it would take too long.
    """
    try:
        # RE2 writes a code point as \x{20ac}.
        spelled = _CODE_POINT.sub(r"\g<before>\\x{\g<long>\g<short>}", pattern)
        # Paid before the search: RE2 cannot be interrupted.
        spend_steps(1 + program_size(spelled) * (len(text) + 1) // _WORK_PER_STEP)
        return search_pattern(spelled, text) is not None
    except BrokenPattern as error:
        words = f"the pattern {pattern[:80]!r} cannot be matched in linear time: {error}"
        raise UnsupportedPattern(words) from error


def check_pattern(validator: Any, expression: Any, value: Any, _schema: Any) -> _Errors:
    """``pattern``."""
    if validator.is_type(value, "string") and not matches_pattern(expression, value):
        yield ValidationError(f"{value!r} does not match {expression!r}")


def check_pattern_properties(validator: Any, patterns: Any, value: Any, _schema: Any) -> _Errors:
    """``patternProperties``."""
    if validator.is_type(value, "object"):
        for expression, schema in patterns.items():
            for name, part in value.items():
                if matches_pattern(expression, name):
                    yield from validator.descend(part, schema, path=name, schema_path=expression)


def check_additional_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> _Errors:
    """``additionalProperties``."""
    if not validator.is_type(value, "object"):
        return
    patterns, declared = schema.get("patternProperties", {}), schema.get("properties", {})
    extras = [
        name
        for name in value
        if name not in declared and not any(matches_pattern(one, name) for one in patterns)
    ]
    if validator.is_type(wanted, "object"):
        for name in extras:
            yield from validator.descend(value[name], wanted, path=name)
    elif not wanted and extras:
        if patterns:
            named = ", ".join(map(repr, sorted(extras)))
            verb = "does" if len(extras) == 1 else "do"
            expected = ", ".join(map(repr, sorted(patterns)))
            yield ValidationError(f"{named} {verb} not match any of the regexes: {expected}")
        else:
            unexpected = _format_unexpected(sorted(extras))
            yield ValidationError(f"Additional properties are not allowed ({unexpected})")


_Places: TypeAlias = "set[Any]"
"""Indexes of items, or names of properties."""


def check_unevaluated_items(validator: Any, _wanted: Any, value: Any, schema: Any) -> _Errors:
    """``unevaluatedItems``."""
    if validator.is_type(value, "array"):
        known = _find_evaluated(validator, value, schema)
        left = [item for place, item in enumerate(value) if place not in known]
        if left:
            yield ValidationError(f"Unevaluated items are not allowed ({_format_unexpected(left)})")


def check_unevaluated_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> _Errors:
    """``unevaluatedProperties``."""
    if not validator.is_type(value, "object"):
        return
    known = _find_evaluated(validator, value, schema)
    others = [name for name in value if name not in known]
    left = [name for name in others if not _is_valid(validator, value[name], wanted)]
    if left:
        rule = "are not allowed" if wanted is False else "are not valid under the given schema"
        yield ValidationError(f"Unevaluated properties {rule} ({_format_unexpected(sorted(left))})")


def _format_unexpected(things: list[Any]) -> str:
    return f"{', '.join(map(repr, things))} {'was' if len(things) == 1 else 'were'} unexpected"


def _find_evaluated(validator: Any, value: Any, schema: Any) -> _Places:
    """Return the items or properties of ``value`` that ``schema`` evaluates."""
    if not isinstance(schema, dict):
        return set()
    spend_steps(1 + len(value) // 8)
    own = _find_evaluated_items if isinstance(value, list) else _find_evaluated_properties
    found = own(validator, value, schema)
    with enter_level():
        for resolved in _iterate_references(validator, schema):
            inner = validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
            found |= _find_evaluated(inner, value, resolved.contents)
        for part in _iterate_applied(validator, value, schema):
            found |= _find_evaluated(validator, value, part)
    return found


def _iterate_references(validator: Any, schema: dict[str, Any]) -> Iterator[Any]:
    resolver = validator._resolver  # noqa: SLF001 - the library's own keywords have no other way
    for word in ("$ref", "$dynamicRef"):
        if word in schema and word in validator.VALIDATORS:
            spend_on_reference(schema[word])
            yield resolver.lookup(schema[word])
    if "$recursiveRef" in schema and "$recursiveRef" in validator.VALIDATORS:
        yield lookup_recursive_ref(resolver)


def _iterate_applied(validator: Any, value: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Yield the schemas that apply to ``value``: combinations, and conditions that it meets."""
    for word in ("allOf", "oneOf", "anyOf"):
        yield from (part for part in schema.get(word, ()) if _is_valid(validator, value, part))
    if "if" in schema:
        fulfilled = _is_valid(validator, value, schema["if"])
        if fulfilled:
            yield schema["if"]
        branch = "then" if fulfilled else "else"
        if branch in schema:
            yield schema[branch]
    if isinstance(value, dict):
        dependent = schema.get("dependentSchemas", {})
        yield from (part for name, part in dependent.items() if name in value)


def _find_evaluated_items(validator: Any, value: list[Any], schema: dict[str, Any]) -> _Places:
    items = schema.get("items")
    # Then no item is left: either there is one schema for all, or one for the rest of them.
    if "items" in schema and (not isinstance(items, list) or "additionalItems" in schema):
        return set(range(len(value)))
    first = items if isinstance(items, list) else schema.get("prefixItems", ())
    found = set(range(len(first)))
    # In draft 2020-12 the items that `contains` matches count as evaluated.
    for part in (schema[word] for word in ("contains", "unevaluatedItems") if word in schema):
        found |= {place for place, item in enumerate(value) if _is_valid(validator, item, part)}
    return found


def _find_evaluated_properties(
    validator: Any, value: dict[str, Any], schema: dict[str, Any]
) -> _Places:
    declared = schema.get("properties")
    found: _Places = set(declared) & set(value) if isinstance(declared, dict) else set()
    for word in ("additionalProperties", "unevaluatedProperties"):
        if (own := schema.get(word)) is not None:
            found |= {name for name, part in value.items() if _is_valid(validator, part, own)}
    for expression in schema.get("patternProperties", ()):
        found |= {name for name in value if matches_pattern(expression, name)}
    return found


def _is_valid(validator: Any, value: Any, schema: Any) -> bool:
    return next(validator.descend(value, schema), None) is None
