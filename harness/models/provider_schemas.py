"""Tool schemas in the form that a provider accepts; what cannot be said exactly is said more widely.

A schema that is accepted as it is passes through untouched. One tool that is not makes an API
reject the whole request, so every rule here leads to a schema that is accepted: never to a missing
tool. A wider schema only tells the model less; the server validates the arguments in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jsonschema.exceptions import ValidationError, best_match

from harness.models.traits import Dialect
from harness.models.unions import MOST_PARTS, TopLevel
from harness.validation.budget import Budget, OutOfSteps, within
from harness.validation.validators import meta_errors

Schema: TypeAlias = dict[str, Any]

NEWEST_DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""The JSON Schema that both providers read."""
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Keywords that hold schemas by name."""
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords that hold a list of schemas, now or in an older draft."""
_SINGLE = frozenset(
    {
        "items",
        "contains",
        "additionalItems",
        "additionalProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
    }
    | {"unevaluatedItems", "unevaluatedProperties"}
)
"""Keywords that hold one schema."""
STEPS = 40_000
"""Steps of validation that go into one tool's schema: enough for some 500 properties, and 0.2 s."""


@dataclass(slots=True, kw_only=True)
class Fitted:
    """A schema that the provider accepts."""

    schema: Mapping[str, Any]
    """The server's own object where that was accepted."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The server's property key → the provider's, where they differ."""
    hints: list[str] = field(default_factory=list)
    """What the schema no longer says, for the tool's description."""
    problems: list[str] = field(default_factory=list)
    """What was wrong with it, a sentence each."""


def fit(schema: Mapping[str, Any], dialect: Dialect, budget: Budget | None = None) -> Fitted:
    """Return ``schema`` as it is if ``dialect`` accepts it, or else the nearest that it accepts.

    What takes more steps than ``budget`` has is offered by the names of its arguments alone.
    """
    with within(budget or Budget(STEPS)):
        return _fit(schema, dialect)


def _fit(schema: Mapping[str, Any], dialect: Dialect) -> Fitted:
    if _is_accepted(schema, dialect):
        return Fitted(schema=schema)
    top = TopLevel(json.loads(json.dumps(schema, default=dict)))  # a copy that may be changed
    plain = top.flatten(dialect.refused)
    problems = [
        f"{dialect.provider} takes no {word} at the top of a schema; it is offered wider"
        for word in top.lost
    ]
    if top.is_cut:
        problems.append(
            f"its schema combines more than {MOST_PARTS} parts at its top; the rest of them is "
            f"left open"
        )
    if plain.get("$schema") != NEWEST_DRAFT:
        plain.pop("$schema", None)
        _modernise(plain)
    problems += _make_object(plain)
    problems += _drop_invalid(plain)
    if dialect.strict_shape:
        for part in _parts(plain):
            if _lacks_items(part):
                part["items"] = {}
    keys = _rename_keys(plain, dialect.key) if dialect.key else {}
    return Fitted(schema=plain, keys=keys, hints=top.hints, problems=problems)


def legal_name(name: str, taken: set[str], *, longest: int, illegal: str, otherwise: str) -> str:
    """Return a name without ``illegal`` characters, not in ``taken``, as near to ``name`` as can be."""
    base = re.sub(illegal, "_", name)[:longest] or otherwise
    candidate, number = base, 2
    while candidate in taken:
        suffix = f"_{number}"
        candidate, number = base[: longest - len(suffix)] + suffix, number + 1
    return candidate


def _is_accepted(schema: Mapping[str, Any], dialect: Dialect) -> bool:
    properties = schema.get("properties", None if dialect.strict_shape else {})
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and isinstance(properties, dict)
        and schema.get("$schema", NEWEST_DRAFT) == NEWEST_DRAFT
        and not any(word in schema for word in ("$ref", *dialect.refused))
        and (dialect.key is None or all(dialect.key.fullmatch(name) for name in properties))
        and _is_valid(schema)
        and not (dialect.strict_shape and any(_lacks_items(part) for part in _parts(schema)))
    )


def _is_valid(schema: Mapping[str, Any]) -> bool:
    try:
        return next(meta_errors(schema), None) is None
    except OutOfSteps:
        return False


def _make_object(schema: Schema) -> list[str]:
    """Let the top be an object, and return what had to be given up for it."""
    kind = schema.get("type", "object")
    foreign = kind != "object" and not (isinstance(kind, list) and "object" in kind)
    if foreign:
        schema.clear()
    schema["type"] = "object"
    if not isinstance(schema.get("properties"), dict):
        schema["properties"] = {}
    return (
        [f"its arguments are {json.dumps(kind)} and not an object; it is offered without any"]
        if foreign
        else []
    )


def _modernise(schema: Schema) -> None:
    """Say in draft 2020-12 what older drafts say in another way: tuples and exclusive bounds."""
    for part in _parts(schema):
        if isinstance(part.get("items"), list):
            part["prefixItems"] = part.pop("items")
            if isinstance(rest := part.pop("additionalItems", None), dict | bool):
                part["items"] = rest
        for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(exclusive := part.get(bound), bool):
                del part[bound]
                if exclusive and limit in part:
                    part[bound] = part.pop(limit)


def _drop_invalid(schema: Schema) -> list[str]:
    """Take out what is no JSON Schema, a property at a time or else a keyword at a time, and say what."""
    problems: list[str] = []
    while error := _worst_error(schema, problems):
        word, *inner = map(str, error.absolute_path)
        if word in _NAMED and inner:
            schema[word][inner[0]] = {}
        else:
            del schema[word]
        where = "/".join(str(step) for step in error.absolute_path)
        problems.append(f"its schema is invalid at {where}; that part is left open")
    return problems


def _worst_error(schema: Schema, problems: list[str]) -> ValidationError | None:
    """Return what is most wrong with ``schema``; where that takes too much work, leave only the arguments' names."""
    worst: ValidationError | None = None
    try:
        worst = best_match(meta_errors(schema))
    except OutOfSteps:
        names, required = schema.get("properties"), schema.get("required")
        named = names if isinstance(names, dict) else {}
        needed = required if isinstance(required, list) else []
        schema.clear()
        schema |= {"type": "object", "properties": {name: {} for name in named}}
        schema["required"] = [name for name in dict.fromkeys(map(str, needed)) if name in named]
        problems.append(
            "its schema takes too much work to examine; its arguments are offered by name alone"
        )
    return worst


def _rename_keys(schema: Schema, legal: re.Pattern[str]) -> dict[str, str]:
    """Give every property a key that is accepted, and return those that changed: the server's → the provider's."""
    properties: Schema = schema["properties"]
    kept = {name for name in properties if legal.fullmatch(name)}
    taken, renamed = set(kept), {}
    for name in properties:
        if name not in kept:
            renamed[name] = legal_name(
                name, taken, longest=64, illegal=r"[^a-zA-Z0-9_.-]", otherwise="argument"
            )
            taken.add(renamed[name])
    if renamed:
        schema["properties"] = {renamed.get(name, name): part for name, part in properties.items()}
        schema["required"] = [renamed.get(name, name) for name in schema.get("required", [])]
        for word in ("dependentRequired", "dependentSchemas", "dependencies"):
            schema.pop(word, None)  # they name the old keys; the server holds to them all the same
    return renamed


def _lacks_items(part: Schema) -> bool:
    kind = part.get("type")
    return "items" not in part and (kind == "array" or (isinstance(kind, list) and "array" in kind))


def _parts(schema: object) -> Iterator[Schema]:
    """Yield every schema inside ``schema``, itself included; each may be changed as soon as it is yielded."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        yield part
        for word, value in part.items():
            if word in _NAMED and isinstance(value, dict):
                waiting.extend(value.values())
            elif word in _LISTED and isinstance(value, list):
                waiting.extend(value)
            elif word in _SINGLE:
                waiting.append(value)
