"""A pattern taken apart: which types it allows, and what it asks of the parts of a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.judging.checks.witness.schemas import TYPES
from harness.judging.matching.json_values import ABSENT, Step, parse_path, type_name
from harness.judging.matching.matchers import BOUNDS, is_matcher, matches_pattern
from harness.judging.matching.ordering import parse_date

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
