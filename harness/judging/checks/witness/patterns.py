"""A pattern taken apart: which types it allows, and what it asks of the parts of a value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.judging.checks.witness.schemas import TYPES
from harness.judging.matching.json_values import ABSENT, type_name
from harness.judging.matching.matchers import BOUNDS, is_matcher, matches
from harness.judging.matching.ordering import date_of
from harness.judging.matching.paths import Step, steps

ANY = {"$any": True}
NONE = {"$absent": True}
_SEVERAL = frozenset({"array", "object"})


def types_of_pattern(pattern: Any) -> frozenset[str]:
    """Return the types of the values that may match a pattern."""
    if not is_matcher(pattern):
        return frozenset({type_name(pattern)})
    found = TYPES
    for key, operand in pattern.items():
        found &= _types(key, operand)
    return found


def _types(key: str, operand: Any) -> frozenset[str]:  # noqa: PLR0911 - one for each operator
    if key in BOUNDS:
        return frozenset({"string"} if date_of(operand) else {"number"})
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
    if key == "$path" and not matches({key: operand}, None):
        return _SEVERAL
    return frozenset() if key == "$absent" and operand else TYPES


def is_plain(pattern: Any) -> bool:
    """Whether a pattern matches one value only: itself."""
    if isinstance(pattern, Mapping):
        return not is_matcher(pattern) and all(map(is_plain, pattern.values()))
    return not isinstance(pattern, list) or all(map(is_plain, pattern))


def inner(pattern: Any, step: str | int, length: int = 0) -> Iterator[Any]:
    """Yield what a pattern asks of the part of a value at ``step``; of a list, of that length."""
    if isinstance(pattern, list):
        yield from pattern[step : step + 1] if isinstance(step, int) else ()
    elif isinstance(pattern, Mapping) and not is_matcher(pattern):
        yield pattern.get(str(step), NONE)
    elif isinstance(pattern, Mapping):
        for key, operand in pattern.items():
            if key == "$every" and isinstance(step, int):
                yield operand
            elif key == "$contains" and isinstance(operand, Mapping) and isinstance(step, str):
                yield from inner(operand, step) if is_matcher(operand) else _of(operand, step)
            elif key == "$path":
                for (first, *rest), part in _paths(operand):
                    if first == step or (isinstance(first, int) and first + length == step):
                        yield _at(rest, part)


def _of(operand: Mapping[str, Any], step: str) -> list[Any]:
    return [operand[step]] if step in operand else []


def _paths(operand: Mapping[str, Any]) -> Iterator[tuple[Sequence[Step], Any]]:
    yield from ((steps(path), part) for path, part in operand.items() if steps(path))


def _at(rest: Sequence[Step], part: Any) -> Any:
    path = "".join("[*]" if step is None else f"[{json.dumps(step)}]" for step in rest)
    return {"$path": {path: part}} if rest else part


def somewhere(pattern: Any) -> Iterator[Any]:
    """Yield what a pattern asks of any one element of a list."""
    for key, operand in pattern.items() if is_matcher(pattern) else ():
        if key == "$contains":
            yield operand
        elif key == "$path":
            yield from (_at(path[1:], part) for path, part in _paths(operand) if path[0] is None)


def names_in(pattern: Any) -> Iterator[str]:
    """Yield the keys of an object that a pattern speaks of."""
    if isinstance(pattern, Mapping) and not is_matcher(pattern):
        yield from pattern
    for key, operand in pattern.items() if is_matcher(pattern) else ():
        if key in ("$contains", "$equals"):
            yield from names_in(operand)
        elif key == "$path":
            yield from (path[0] for path, _ in _paths(operand) if isinstance(path[0], str))


def unwrapped(pattern: Any) -> list[list[Any]]:
    """Return alternatives of simpler patterns, which match together what ``pattern`` does."""
    if not is_matcher(pattern):
        return [[pattern]]
    rest = dict(pattern)
    if "$equals" in rest and is_plain(rest["$equals"]):
        return [[rest.pop("$equals"), *([rest] if rest else [])]]
    if "$one_of" in rest:
        options = rest.pop("$one_of")
        return [[option, *([rest] if rest else [])] for option in options]
    whole = [part for path, part in rest.get("$path", {}).items() if not steps(path)]
    if whole:
        rest["$path"] = {path: part for path, part in rest["$path"].items() if steps(path)}
        return [[*whole, rest] if rest["$path"] or len(rest) > 1 else whole]
    return [[pattern]]


def allows_absence(patterns: Sequence[Any]) -> bool:
    """Whether all ``patterns`` match where there is no value."""
    return all(matches(pattern, ABSENT) for pattern in patterns)
