"""Fits tool schemas to a provider; a part that cannot be expressed exactly becomes wider.

An accepted schema is passed on unchanged. One tool with another schema would make an API reject the
whole request, so every rule here produces an accepted schema, never a missing tool. A wider schema
only gives the model less information; the server validates the arguments in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jsonschema.exceptions import ValidationError, best_match

from harness.base import Budget, OutOfSteps, apply_budget, meta_errors
from harness.models.dialects.schema_rules import (
    LISTED,
    NAMED,
    SINGLE,
    SchemaReduction,
    SchemaRefusal,
)
from harness.models.model import Dialect
from harness.models.unions import MOST_PARTS, SchemaFlattener

Schema: TypeAlias = dict[str, Any]

NEWEST_DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""The JSON Schema that both providers read."""
_LISTED = LISTED | {"items"}
"""Keywords whose values are lists of schemas, in this or an older draft."""
_SINGLE = SINGLE | {"additionalItems"}
"""Keywords whose value is one schema, in this or an older draft."""
STEPS = 40_000
"""Most validation steps for one tool's schema: enough for about 1,000 properties; 0.1 s."""


@dataclass(slots=True, kw_only=True)
class FittedSchema:
    """A schema that the provider accepts."""

    schema: Mapping[str, Any]
    """The server's own object if that is accepted."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The server's property key → the provider's, if they differ."""
    hints: list[str] = field(default_factory=list)
    """Information that the schema lost, for the tool's description."""
    problems: list[str] = field(default_factory=list)
    """Its problems, in a sentence each."""
    refusals: list[SchemaRefusal] = field(default_factory=list)
    """What the provider refuses inside it: left out, and written into descriptions."""


def fit_schema(
    schema: Mapping[str, Any], dialect: Dialect, budget: Budget | None = None
) -> FittedSchema:
    """Return ``schema`` unchanged if ``dialect`` accepts it, else the nearest accepted schema.

    A schema that takes more steps than ``budget`` is reduced to the names of its arguments.
    """
    with apply_budget(budget or Budget(STEPS)):
        return _fit_cached(schema, dialect)


def _fit_cached(schema: Mapping[str, Any], dialect: Dialect) -> FittedSchema:
    # Both are asked: what is accepted at its top may still hold a refused part further down.
    if _is_accepted(schema, dialect) and not SchemaReduction(dict(schema), dialect.rules).changed:
        return FittedSchema(schema=schema)
    # A copy that may be changed.
    top = SchemaFlattener(json.loads(json.dumps(schema, default=dict)))
    plain = top.flatten(dialect.refused)
    problems = [
        f"{dialect.provider} takes no {word} at the top of a schema; it is offered wider"
        for word in top.lost
    ]
    if top.is_cut:
        problems.append(
            f"its schema combines more than {MOST_PARTS} parts at its top; the rest of them is "
            "left open"
        )
    # A schema that does not name its draft may be of an older one, whose forms are unmistakable.
    if plain.get("$schema") != NEWEST_DRAFT:
        plain.pop("$schema", None)
        _modernise_schema(plain)
    problems += _make_object(plain)
    problems += _drop_invalid(plain)
    # After invalid parts are gone: it expects values of the documented types.
    reduction = SchemaReduction(plain, dialect.rules)
    plain = reduction.schema
    if dialect.strict_shape:
        for part in _iterate_parts(plain):
            if _lacks_items(part):
                part["items"] = {}
    # Last: all other steps speak of the server's keys.
    keys = _rename_keys(plain, dialect.key) if dialect.key else {}
    return FittedSchema(
        schema=plain, keys=keys, hints=top.hints, problems=problems, refusals=reduction.refusals
    )


def legal_name(
    name: str,
    taken: set[str],
    *,
    longest: int,
    illegal: str,
    otherwise: str,
    letter_first: bool = False,
) -> str:
    """Return the name most similar to ``name``, legal and not in ``taken``."""
    base = re.sub(illegal, "_", name) or otherwise
    base = (f"_{base}" if letter_first and not re.match("[a-zA-Z_]", base) else base)[:longest]
    candidate, number = base, 2
    while candidate in taken:
        # Cut before the number: two long names that begin alike would stay the same.
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
        and not (dialect.strict_shape and any(map(_lacks_items, _iterate_parts(schema))))
    )


def _is_valid(schema: Mapping[str, Any]) -> bool:
    try:
        return next(meta_errors(schema), None) is None
    # Not accepted means that it is fitted, which reports the work that it takes.
    except OutOfSteps:
        return False


def _make_object(schema: Schema) -> list[str]:
    """Make the top an object, and return the problems that this causes."""
    kind = schema.get("type", "object")
    foreign = kind != "object" and not (isinstance(kind, list) and "object" in kind)
    if foreign:
        schema.clear()
    schema["type"] = "object"
    if not isinstance(schema.get("properties"), dict):
        schema["properties"] = {}
    problem = f"its arguments are {json.dumps(kind)} and not an object; it is offered without any"
    return [problem] if foreign else []


def _modernise_schema(schema: Schema) -> None:
    """Convert older drafts to 2020-12: tuples and exclusive bounds."""
    for part in _iterate_parts(schema):
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
    """Remove invalid parts, one property or keyword at a time, and return the problems."""
    problems: list[str] = []
    # One at a time: without the worst part the others may be valid. Each step removes something.
    while error := _worst_error(schema, problems):
        word, *inner = map(str, error.absolute_path)
        # One bad property must not cost the others: it stays, and takes anything.
        if word in NAMED and inner:
            schema[word][inner[0]] = {}
        else:
            del schema[word]
        where = "/".join(str(step) for step in error.absolute_path)
        problems.append(f"its schema is invalid at {where}; that part is left open")
    return problems


def _worst_error(schema: Schema, problems: list[str]) -> ValidationError | None:
    """Return the worst error of ``schema``; on too much work, keep only argument names."""
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
    """Rename properties to accepted keys, and return the changes: the server's → the provider's."""
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
            schema.pop(word, None)  # they name the old keys; the server checks them in any case
    return renamed


def _lacks_items(part: Schema) -> bool:
    kind = part.get("type")
    return "items" not in part and (kind == "array" or (isinstance(kind, list) and "array" in kind))


def _iterate_parts(schema: object) -> Iterator[Schema]:
    """Yield every schema inside ``schema``, itself included; each may be changed when yielded."""
    # A stack and no recursion: a schema may nest more deeply than Python can.
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        yield part
        for word, value in part.items():
            if word in NAMED and isinstance(value, dict):
                waiting.extend(value.values())
            elif word in _LISTED and isinstance(value, list):
                waiting.extend(value)
            elif word in _SINGLE:
                waiting.append(value)
