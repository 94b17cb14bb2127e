"""Patterns for values: a plain JSON value, or a matcher such as ``{$gte: 1, $lte: 5}``.

A *pattern* stands in a suite in place of a value::

    pattern := scalar                       exactly this; types count, 5 and 5.0 are one number
             | [pattern, …]                 a list of this length, element by element
             | {name: pattern, …}           an object with exactly these keys
             | {$operator: operand, …}      a matcher: every operator in it must hold

A mapping is a matcher exactly when one of its keys begins with ``$``; then all of them must. A
value that equals the mapping as written (a query such as ``{"$gt": 5}``) matches too, and
``$equals`` takes its operand literally, so that a suite can ask for any plain object.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.base import InvalidValue, search_pattern
from harness.judging.matching.amounts import check_tolerance, is_close
from harness.judging.matching.json_values import (
    ABSENT,
    check_path,
    format_value,
    is_equal,
    is_number,
    select_values,
    type_name,
)
from harness.judging.matching.ordering import compare_values, has_order, why_unlike
from harness.judging.matching.texts import check_pattern, clip_text, fold_text
from harness.types import JsonPath, dataclass

_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


@dataclass(frozen=True, slots=True)
class _Operator:
    """One ``$operator``: the check of its operand, its comparison, and its description."""

    check: Callable[[Any, JsonPath], None]
    """Raises `InvalidValue` when the operand does not fit."""
    holds: Callable[[Any, Any], bool]
    """Whether (operand, value) match; the value may be `ABSENT`."""
    words: str
    """Its description, with ``{}`` in place of the operand."""


def is_matcher(pattern: Any) -> bool:
    """Whether a pattern is a matcher and not a plain value."""
    return isinstance(pattern, Mapping) and any(key.startswith("$") for key in pattern)


def check_matcher(pattern: Any, path: JsonPath = ()) -> None:
    """Make sure that a pattern (of plain JSON) is valid.

    Raises:
        InvalidValue: an unknown operator, a mixture of operators and keys, or an operand that does
            not fit.
    """
    if isinstance(pattern, list):
        for index, part in enumerate(pattern):
            check_matcher(part, (*path, index))
    elif isinstance(pattern, Mapping):
        operators = is_matcher(pattern)
        for key, part in pattern.items():
            if not operators:
                check_matcher(part, (*path, key))
            elif key in OPERATORS:
                OPERATORS[key].check(part, (*path, key))
            else:
                raise _unknown_operator(key, path)


def _unknown_operator(key: str, path: JsonPath) -> InvalidValue:
    plain = "To compare with an object that really has such keys, put it under $equals."
    if not key.startswith("$"):
        return InvalidValue(
            f"the key {key!r} stands beside a $ operator", path=(*path, key), meant=plain
        )
    near = _SYNONYMS.get(key) or next(iter(difflib.get_close_matches(key, OPERATORS, n=1)), None)
    advice = f"Did you mean {near}? " if near else f"Known: {', '.join(OPERATORS)}. "
    return InvalidValue(f"there is no matcher {key}", path=(*path, key), meant=advice + plain)


def matches_pattern(pattern: Any, value: Any) -> bool:
    """Whether ``value`` (JSON, or `ABSENT`) matches the pattern."""
    if is_matcher(pattern):
        # An argument may itself be such a mapping: the query of a database, say.
        return is_equal(pattern, value) or all(
            OPERATORS[key].holds(part, value) for key, part in pattern.items()
        )
    if isinstance(pattern, Mapping) and isinstance(value, Mapping):
        # The value does not have a key that the pattern wants absent.
        return value.keys() <= pattern.keys() and all(
            matches_pattern(part, value.get(key, ABSENT)) for key, part in pattern.items()
        )
    if isinstance(pattern, list | tuple) and isinstance(value, list | tuple):
        return len(pattern) == len(value) and all(map(matches_pattern, pattern, value))
    return is_equal(pattern, value)


def matches_partly(pattern: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Whether the object ``value`` matches the pattern's keys; it may have further keys."""
    if is_matcher(pattern):
        return matches_pattern(pattern, value)
    return all(matches_pattern(part, value.get(key, ABSENT)) for key, part in pattern.items())


def describe_pattern(pattern: Any, width: int = 60) -> str:
    """Return the description of a pattern: ``10``, ``"red"``, ``at least 1 and at most 5``."""
    if not is_matcher(pattern):
        return format_value(pattern, width)
    return clip_text(
        " and ".join(_describe_operator(key, operand, width) for key, operand in pattern.items()),
        2 * width,
    )


def _describe_operator(key: str, operand: Any, width: int) -> str:
    if key == "$absent":
        return "absent" if operand else "given"
    # What is taken literally has no operators, whatever its keys look like.
    describe = format_value if key == "$equals" else describe_pattern
    return OPERATORS[key].words.format(describe(operand, width))


def explain_unlike(pattern: Any, value: Any) -> str:
    """Return why a part of ``value`` cannot be compared with a bound of the pattern, in words.

    The text is empty if every part can be.
    """
    for key, operand in pattern.items() if isinstance(pattern, Mapping) else ():
        if key in BOUNDS and (why := why_unlike(value, operand)):
            return why
    return next(filter(None, (explain_unlike(*pair) for pair in _pair_parts(pattern, value))), "")


def _pair_parts(pattern: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each inner pattern with each value that it is compared with."""
    if isinstance(pattern, list) and isinstance(value, list | tuple):
        yield from zip(pattern, value, strict=False)
    for key, operand in pattern.items() if isinstance(pattern, Mapping) else ():
        if key == "$path" and value is not ABSENT:
            yield from (
                (operand[path], part) for path in operand for part in select_values(path, value)
            )
        elif key == "$one_of":
            yield from ((option, value) for option in operand)
        elif key in ("$every", "$contains") and isinstance(value, list | tuple):
            yield from ((operand, part) for part in value)
        elif key in ("$not", "$contains"):
            yield operand, value
        elif isinstance(value, Mapping) and key in value:
            yield operand, value[key]


# ── Operands ─────────────────────────────────────────────────────────────────────────────────


def _require_operand(fits: Callable[[Any], bool], what: str) -> Callable[[Any, JsonPath], None]:
    return lambda operand, path: _require(fits(operand), what, operand, path)


def _require(fits: bool, what: str, operand: Any, path: JsonPath) -> None:  # noqa: FBT001 - asked
    if not fits:
        raise InvalidValue(f"{path[-1]} takes {what}, not {format_value(operand)}", path=path)


def _check_bound(operand: Any, path: JsonPath) -> None:
    if not has_order(operand):
        raise InvalidValue(
            f"{path[-1]} takes a number or a date, not {format_value(operand)}",
            path=path,
            meant="A date is written 2024-03-31 or 2024-03-31T09:30:00Z. Other texts have no "
            "order: use $one_of or $matches.",
        )


def _check_regex(operand: Any, path: JsonPath) -> None:
    _require(isinstance(operand, str), "a regular expression as a string", operand, path)
    check_pattern(operand, path)


def _check_options(operand: Any, path: JsonPath) -> None:
    is_list = isinstance(operand, list) and bool(operand)
    _require(is_list, "a list of at least one value", operand, path)
    check_matcher(operand, path)


def _check_length(operand: Any, path: JsonPath) -> None:
    if not is_matcher(operand):
        is_count = is_number(operand) and operand >= 0 and operand == int(operand)
        _require(is_count, "a count or a matcher", operand, path)
    check_matcher(operand, path)


def _check_paths(operand: Any, path: JsonPath) -> None:
    is_mapping = isinstance(operand, Mapping) and bool(operand)
    _require(is_mapping, "a mapping of paths to values", operand, path)
    for text, part in operand.items():
        check_path(text, (*path, text))
        check_matcher(part, (*path, text))


def _check_approx(operand: Any, path: JsonPath) -> None:
    if is_number(operand):
        return
    what = "a number, or {value: …, tolerance: …}"
    _require(isinstance(operand, Mapping), what, operand, path)
    if set(operand) != {"value", "tolerance"} or not is_number(operand["value"]):
        raise InvalidValue(
            "$approx takes {value: number, tolerance: number or percentage}", path=path
        )
    check_tolerance(operand["tolerance"], (*path, "tolerance"))


def _is_type(operand: Any) -> bool:
    names = operand if isinstance(operand, list) and operand else [operand]
    return all(isinstance(name, str) and name in _TYPES for name in names)


# ── Operators ────────────────────────────────────────────────────────────────────────────────


def _bound_operator(words: str, *signs: int) -> _Operator:
    return _Operator(
        _check_bound, lambda operand, value: compare_values(value, operand) in signs, words
    )


def _matches_contains(operand: Any, value: Any) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    if isinstance(value, Mapping):
        return isinstance(operand, Mapping) and matches_partly(operand, value)
    return isinstance(value, list | tuple) and any(matches_pattern(operand, part) for part in value)


def _matches_approx(operand: Any, value: Any) -> bool:
    stated = operand if isinstance(operand, Mapping) else {"value": operand, "tolerance": 0}
    return is_number(value) and is_close(stated["value"], value, stated["tolerance"])


def _has_type(operand: Any, value: Any) -> bool:
    names = operand if isinstance(operand, list) else [operand]
    # In JSON, 5.0 is the same number as 5.
    whole = is_number(value) and (isinstance(value, int) or value.is_integer())
    return value is not ABSENT and (type_name(value) in names or (whole and "integer" in names))


def has_match_at(path: str, pattern: Any, value: Any) -> bool:
    """Whether any value at ``path`` matches; if there is none, `ABSENT` is compared."""
    found = [] if value is ABSENT else select_values(path, value)
    return any(matches_pattern(pattern, part) for part in found or [ABSENT])


OPERATORS: Mapping[str, _Operator] = {
    "$equals": _Operator(lambda _operand, _path: None, is_equal, "exactly {}"),
    "$iequals": _Operator(
        _require_operand(lambda value: isinstance(value, str), "a string"),
        lambda operand, value: isinstance(value, str) and fold_text(operand) == fold_text(value),
        "{} in any case",
    ),
    "$contains": _Operator(check_matcher, _matches_contains, "containing {}"),
    "$matches": _Operator(
        _check_regex,
        lambda operand, value: (
            isinstance(value, str) and search_pattern(operand, value) is not None
        ),
        "matching {}",
    ),
    "$one_of": _Operator(
        _check_options,
        lambda operand, value: any(matches_pattern(part, value) for part in operand),
        "one of {}",
    ),
    "$gt": _bound_operator("more than {}", 1),
    "$gte": _bound_operator("at least {}", 0, 1),
    "$lt": _bound_operator("less than {}", -1),
    "$lte": _bound_operator("at most {}", -1, 0),
    "$approx": _Operator(_check_approx, _matches_approx, "about {}"),
    "$length": _Operator(
        _check_length,
        lambda operand, value: (
            isinstance(value, str | list | tuple | Mapping) and matches_pattern(operand, len(value))
        ),
        "of length {}",
    ),
    "$type": _Operator(
        _require_operand(_is_type, f"one or more of {', '.join(_TYPES)}"), _has_type, "of type {}"
    ),
    "$every": _Operator(
        check_matcher,
        lambda operand, value: (
            isinstance(value, list | tuple)
            and all(matches_pattern(operand, part) for part in value)
        ),
        "a list of which every element is {}",
    ),
    "$path": _Operator(
        _check_paths,
        lambda operand, value: all(
            has_match_at(path, part, value) for path, part in operand.items()
        ),
        "with {}",
    ),
    "$not": _Operator(
        check_matcher, lambda operand, value: not matches_pattern(operand, value), "not {}"
    ),
    "$absent": _Operator(
        _require_operand(lambda operand: isinstance(operand, bool), "true or false"),
        lambda operand, value: (value is ABSENT) == operand,
        "absent",
    ),
    "$any": _Operator(
        # False would be another word for `$absent`.
        _require_operand(lambda operand: operand is True, "true"),
        lambda _operand, value: value is not ABSENT,
        "anything",
    ),
}
"""Every matcher by its name."""

BOUNDS = ("$gt", "$gte", "$lt", "$lte")
"""The matchers that compare the order of values."""

# Names of other query languages, such as MongoDB's, which no likeness of letters leads to.
_SYNONYMS = {
    "$eq": "$equals",
    "$is": "$equals",
    "$regex": "$matches",
    "$in": "$one_of",
    "$ge": "$gte",
    "$le": "$lte",
    "$size": "$length",
    "$len": "$length",
    "$exists": "$absent",
    "$all": "$every",
    "$ne": "$not",
}
