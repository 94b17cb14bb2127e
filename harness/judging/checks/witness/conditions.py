"""A schema and a pattern taken apart into what each says of one value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from harness.base import Budget, Validation, validate_value
from harness.judging.matching.json_values import ABSENT, Step, parse_path, type_name
from harness.judging.matching.matchers import BOUNDS, is_matcher, matches_pattern
from harness.judging.matching.ordering import parse_date

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
    return validate_value("", {"pattern": pattern}, Budget(_STEPS)).gave_up is None


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


ANY = {"$any": True}
NONE = {"$absent": True}
_SEVERAL = frozenset({"array", "object"})


def find_pattern_types(pattern: Any) -> frozenset[str]:
    """Return the types of the values that may match a pattern."""
    if not is_matcher(pattern):
        return frozenset({type_name(pattern)})
    found = TYPES
    for key, operand in pattern.items():
        found &= _operator_types(key, operand)
    return found


def _operator_types(key: str, operand: Any) -> frozenset[str]:  # noqa: PLR0911 - one for each operator
    if key in BOUNDS:
        return frozenset({"string"} if parse_date(operand) else {"number"})
    if key in ("$matches", "$iequals"):
        return frozenset({"string"})
    if key in ("$approx", "$every"):
        return frozenset({"number" if key == "$approx" else "array"})
    if key == "$length":
        return _SEVERAL | {"string"}
    if key == "$contains":
        part = {"string"} if isinstance(operand, str) else set[str]()
        return frozenset({"array", *part, *(["object"] if isinstance(operand, Mapping) else [])})
    if key == "$type":
        names = operand if isinstance(operand, list) else [operand]
        return frozenset("number" if name == "integer" else name for name in names)
    # If even null matches, the paths may lead nowhere, as they do in any scalar.
    if key == "$path" and not matches_pattern({key: operand}, None):
        return _SEVERAL
    return frozenset() if key == "$absent" and operand else TYPES


def is_plain(pattern: Any) -> bool:
    """Whether a pattern matches one value only: itself."""
    if isinstance(pattern, Mapping):
        return not is_matcher(pattern) and all(map(is_plain, pattern.values()))
    return not isinstance(pattern, list) or all(map(is_plain, pattern))


def inner_patterns(pattern: Any, step: str | int, length: int = 0) -> Iterator[Any]:
    """Yield what a pattern asks of the part of a value at ``step``; of a list, of that length."""
    if isinstance(pattern, list):
        yield from pattern[step : step + 1] if isinstance(step, int) else ()
    elif isinstance(pattern, Mapping) and not is_matcher(pattern):
        # A plain object has exactly these keys.
        yield pattern.get(str(step), NONE)
    elif isinstance(pattern, Mapping):
        for key, operand in pattern.items():
            if key == "$every" and isinstance(step, int):
                yield operand
            elif key == "$contains" and isinstance(operand, Mapping) and isinstance(step, str):
                if is_matcher(operand):
                    yield from inner_patterns(operand, step)
                elif step in operand:
                    yield operand[step]
            elif key == "$path":
                for (first, *rest), part in _parse_paths(operand):
                    # A negative index counts from the end.
                    if first == step or (isinstance(first, int) and first + length == step):
                        yield _wrap_in_path(rest, part)


def _parse_paths(operand: Mapping[str, Any]) -> Iterator[tuple[Sequence[Step], Any]]:
    yield from ((parse_path(path), part) for path, part in operand.items() if parse_path(path))


def _wrap_in_path(rest: Sequence[Step], part: Any) -> Any:
    path = "".join("[*]" if step is None else f"[{json.dumps(step)}]" for step in rest)
    return {"$path": {path: part}} if rest else part


def element_patterns(pattern: Any) -> Iterator[Any]:
    """Yield what a pattern asks of any one element of a list."""
    for key, operand in pattern.items() if is_matcher(pattern) else ():
        if key == "$contains":
            yield operand
        elif key == "$path":
            yield from (
                _wrap_in_path(path[1:], part)
                for path, part in _parse_paths(operand)
                if path[0] is None
            )


def find_names(pattern: Any) -> Iterator[str]:
    """Yield the keys of an object that a pattern speaks of."""
    if isinstance(pattern, Mapping) and not is_matcher(pattern):
        yield from pattern
    for key, operand in pattern.items() if is_matcher(pattern) else ():
        if key in ("$contains", "$equals"):
            yield from find_names(operand)
        elif key == "$path":
            yield from (path[0] for path, _ in _parse_paths(operand) if isinstance(path[0], str))


def unwrap_pattern(pattern: Any) -> list[list[Any]]:
    """Return alternatives of simpler patterns, which match together what ``pattern`` does."""
    if not is_matcher(pattern):
        return [[pattern]]
    rest = dict(pattern)
    if "$equals" in rest and is_plain(rest["$equals"]):
        return [[rest.pop("$equals"), *([rest] if rest else [])]]
    if "$one_of" in rest:
        options = rest.pop("$one_of")
        return [[option, *([rest] if rest else [])] for option in options]
    whole = [part for path, part in rest.get("$path", {}).items() if not parse_path(path)]
    if whole:
        rest["$path"] = {path: part for path, part in rest["$path"].items() if parse_path(path)}
        return [[*whole, rest] if rest["$path"] or len(rest) > 1 else whole]
    return [[pattern]]


def allows_absence(patterns: Sequence[Any]) -> bool:
    """Whether all ``patterns`` match where there is no value."""
    return all(matches_pattern(pattern, ABSENT) for pattern in patterns)
