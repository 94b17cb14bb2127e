"""The schema of a tool's arguments, taken apart into what holds for one value in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from harness.base import (
    Budget,
    OutOfSteps,
    UnsupportedPattern,
    Validation,
    apply_budget,
    matches_pattern,
    validate_value,
)

TYPES = frozenset({"null", "boolean", "number", "string", "array", "object"})
Branch: TypeAlias = list[Mapping[str, Any]]
"""Schemas without alternatives, all of which hold."""

# Alternatives multiply: beyond these bounds nothing is said, which is better than a long wait.
_MOST_BRANCHES = 64
_DEEPEST = 30
_STEPS = 400_000  # of validation for one expectation: two seconds at worst
_INSIDE = ("allOf", "anyOf", "oneOf")
_TURNED = frozenset({"not", "if", "oneOf", "contains"})
"""Keywords that may allow less if a schema below them allows more."""
_ROOT = "#/$defs/root"


class UndecidedError(Exception):
    """Whether there is a witness cannot be found out within reason."""


class Schemas:
    """A tool's schema, whose parts are validated apart and whose references are known."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Make every reference lead to the whole schema, wherever the part is validated.

        Raises:
            Undecided: a reference leads elsewhere.
        """
        self._frame = {key: schema[key] for key in ("$schema",) if key in schema}
        # With an address of its own, the schema would be the base of the references in it.
        whole = {key: part for key, part in schema.items() if key not in ("$schema", "$id")}
        # Widened only where a wider part cannot make the whole narrower.
        self.root = _root_references(whole, widen=not _TURNED & {*_iterate_keys(whole)})
        self._frame["$defs"] = {"root": self.root}
        self._budget = Budget(_STEPS)
        dialect = str(schema.get("$schema", ""))
        # Up to draft 7, whatever stands beside a reference is ignored.
        self._lone_references = any(
            draft in dialect for draft in ("draft-04", "draft-06", "draft-07")
        )

    def find_errors(self, value: Any, schemas: Sequence[Any]) -> Sequence[str]:
        """Return why ``value`` is not valid by all ``schemas``; empty if it is.

        Raises:
            Undecided: it cannot be validated.
        """
        found: Validation = validate_value(
            value, {**self._frame, "allOf": [*schemas]}, self._budget, most=1
        )
        if found.gave_up is not None:
            raise UndecidedError(found.gave_up)
        return found.errors

    def list_branches(self, schemas: Sequence[Any], depth: int = 0) -> list[Branch]:
        """Return the alternatives of ``schemas``, in one of which every valid value is.

        Raises:
            Undecided: there are too many.
        """
        options: list[Branch] = [[]]
        for schema in schemas:
            options = [
                [*option, *other]
                for option in options
                for other in self._split_schema(schema, depth)
            ]
            if len(options) > _MOST_BRANCHES:
                raise UndecidedError
        return options

    def _split_schema(self, schema: Any, depth: int) -> list[Branch]:
        if isinstance(schema, bool):
            # `true` allows everything without a condition; `false` has no alternative at all.
            return [[]] if schema else []
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            raise UndecidedError
        target = [self._resolve_reference(schema["$ref"])] if "$ref" in schema else []
        if target and self._lone_references:
            return self.list_branches(target, depth + 1)
        options = [
            [schema, *rest]
            for rest in self.list_branches([*target, *schema.get("allOf", ())], depth + 1)
        ]
        for word in ("anyOf", "oneOf"):
            if word in schema:
                either = [self.list_branches([one], depth + 1) for one in schema[word]]
                options = [[*option, *other] for option in options for other in chain(*either)]
        return options

    def local_schemas(self, schemas: Sequence[Any], depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """Yield every schema that may say something of the value itself, in any alternative."""
        for schema in schemas:
            if not isinstance(schema, Mapping) or depth > _DEEPEST:
                continue
            yield schema
            inner = [schema[word] for word in ("not", "if", "then", "else") if word in schema]
            inner += [part for word in _INSIDE for part in schema.get(word, ())]
            inner += [self._resolve_reference(schema["$ref"])] if "$ref" in schema else []
            yield from self.local_schemas(inner, depth + 1)

    def _resolve_reference(self, reference: str) -> Any:
        found: Any = self.root
        for step in reference.removeprefix(_ROOT).split("/")[1:]:
            # RFC 6901: so a name with a slash or a tilde is written in a reference.
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise UndecidedError
        return found


def _iterate_keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from value
    for part in value.values() if isinstance(value, Mapping) else value:
        if isinstance(part, Mapping | list):
            yield from _iterate_keys(part)


def _root_references(value: Any, *, widen: bool) -> Any:
    """Return a schema whose references lead to the root.

    With ``widen``, it allows also what a pattern may refuse that cannot be read (look-ahead), and
    null where OpenAPI's ``nullable`` does.
    """
    if isinstance(value, list):
        return [_root_references(part, widen=widen) for part in value]
    if not isinstance(value, Mapping):
        return value
    for word in ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"):
        if isinstance(value.get(word), str):
            raise UndecidedError
    found = {key: _root_references(part, widen=widen) for key, part in value.items()}
    if isinstance(reference := value.get("$ref"), str):
        # Escapes of addresses are not undone here, so a reference with one is left undecided.
        if not (reference == "#" or reference.startswith("#/")) or "%" in reference:
            raise UndecidedError
        found["$ref"] = f"{_ROOT}{reference[1:]}"
    if widen and isinstance(pattern := value.get("pattern"), str) and not _is_readable(pattern):
        del found["pattern"]
    if widen and value.get("nullable") is True and isinstance(value.get("type"), str):
        found["type"] = [value["type"], "null"]
        found |= {"enum": [*value["enum"], None]} if isinstance(value.get("enum"), list) else {}
    return found


def _is_readable(pattern: str) -> bool:
    try:
        with apply_budget(Budget(_STEPS)):
            matches_pattern(pattern, "")
    except (UnsupportedPattern, OutOfSteps):
        return False
    return True


def find_branch_types(branch: Branch) -> frozenset[str]:
    """Return the types that a branch allows; a whole number is a ``number``."""
    found = TYPES
    for schema in branch:
        if "type" in schema:
            named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            found &= {"number" if name == "integer" else name for name in named}
    return found


def is_listed(branch: Branch) -> bool:
    """Whether a branch lists every value that it allows."""
    return any("enum" in schema or "const" in schema for schema in branch)
