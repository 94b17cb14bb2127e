"""``unevaluatedItems`` and ``unevaluatedProperties``: parts that no other keyword evaluated.

The evaluated parts are collected over references and combinations; each schema costs a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from jsonschema.exceptions import ValidationError
from referencing.jsonschema import lookup_recursive_ref

from harness.base.validation.budget import enter_level, spend_on_reference, spend_steps
from harness.base.validation.pattern_keywords import matches_pattern

_Places: TypeAlias = "set[Any]"
"""Indexes of items, or names of properties."""


def check_unevaluated_items(
    validator: Any, _wanted: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    """``unevaluatedItems``."""
    if validator.is_type(value, "array"):
        known = _find_evaluated(validator, value, schema)
        left = [item for place, item in enumerate(value) if place not in known]
        if left:
            yield ValidationError(f"Unevaluated items are not allowed ({_format_unexpected(left)})")


def check_unevaluated_properties(
    validator: Any, wanted: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    """``unevaluatedProperties``."""
    if not validator.is_type(value, "object"):
        return
    known = _find_evaluated(validator, value, schema)
    left = [
        name
        for name in value
        if name not in known and not _is_valid(validator, value[name], wanted)
    ]
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
    for word in ("contains", "unevaluatedItems"):
        if word in schema:
            found |= {
                place
                for place, item in enumerate(value)
                if _is_valid(validator, item, schema[word])
            }
    return found


def _find_evaluated_properties(
    validator: Any, value: dict[str, Any], schema: dict[str, Any]
) -> _Places:
    declared = schema.get("properties")
    found: _Places = set(declared) & set(value) if isinstance(declared, dict) else set()
    for word in ("additionalProperties", "unevaluatedProperties"):
        if schema.get(word) is not None:
            found |= {
                name for name, part in value.items() if _is_valid(validator, part, schema[word])
            }
    for expression in schema.get("patternProperties", ()):
        found |= {name for name in value if matches_pattern(expression, name)}
    return found


def _is_valid(validator: Any, value: Any, schema: Any) -> bool:
    return next(validator.descend(value, schema), None) is None
