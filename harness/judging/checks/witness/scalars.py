"""Numbers and texts that show whether any number or text satisfies some conditions.

Conditions change their truth only at the numbers and lengths that they name, so one value at each
of these and one between any two of them are enough. Only for regular expressions no set of texts
would be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from harness.base import text_matching
from harness.judging.matching.json_values import is_number, parse_path
from harness.judging.matching.matchers import BOUNDS
from harness.judging.matching.ordering import parse_date

_SHORTEST_DATE = 8  # characters
_LONGEST = 20_000  # characters of a text that is tried
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")


def iterate_parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield everything inside a pattern, each with the nearest key above it."""
    waiting = [("", value)]
    while waiting:
        key, part = waiting.pop()
        yield key, part
        if isinstance(part, Mapping):
            waiting.extend(part.items())
        elif isinstance(part, list):
            waiting.extend((key, each) for each in part)


def list_named_values(wants: Sequence[Any], local: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return every value that patterns and schemas name."""
    found: list[Any] = [part for want in wants for _, part in iterate_parts(want)]
    found = [part for part in found if not isinstance(part, Mapping | list)]
    for schema in local:
        found += [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
        examples = schema.get("examples", ())
        found += [schema.get("default"), *(examples if isinstance(examples, list) else ())]
    return found


def candidate_numbers(wants: Sequence[Any], local: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return numbers among which one fits, if any number does."""
    # Fractions, since sums and multiples of floats are inexact.
    named = [Fraction(part) for part in list_named_values(wants, local) if is_number(part)]
    named += [Fraction(one[word]) for one in local for word in _BOUNDS if is_number(one.get(word))]
    for want in wants:
        for key, part in iterate_parts(want):
            if key == "$approx" and isinstance(part, Mapping):
                room = str(part["tolerance"])
                middle = Fraction(part["value"])
                width = Fraction(room.rstrip("% ")) * (middle / 100 if room.endswith("%") else 1)
                named += [middle - width, middle + width]
    points = sorted({Fraction(0), *named})
    points = [points[0] - 1, *points, points[-1] + 1]
    # Of two that are so near to each other, one is no whole number.
    near = (Fraction(3, 8), Fraction(5, 8))
    spread = [
        one + min(other - one, Fraction(1)) * part
        for one, other in pairwise(points)
        for part in (Fraction(0), *near)
    ]
    # By its digits as written: the float 0.1 is not a tenth.
    factors = [Fraction(str(s["multipleOf"])) for s in local if is_number(s.get("multipleOf"))]
    multiples = _least_common_multiple(factors), _least_common_multiple([*factors, Fraction(1)])
    grids = {Fraction(1), *factors, *multiples}
    found = spread + [
        (math.floor(point / grid) + step) * grid
        for grid in grids
        for point in points
        for step in (0, -1, 1, 2)
    ]
    return [
        number.numerator if number.denominator == 1 else float(number)
        for number in dict.fromkeys(found)
    ]


def _least_common_multiple(factors: Sequence[Fraction]) -> Fraction:
    """Return the least number that all ``factors`` divide."""
    denominator = math.prod(factor.denominator for factor in factors)
    return Fraction(math.lcm(*(int(factor * denominator) for factor in factors)), denominator)


def is_fractional(local: Sequence[Mapping[str, Any]]) -> bool:
    """Whether numbers must be multiples of a fraction, of which floats are only nearly some."""
    return any(isinstance(schema.get("multipleOf"), float) for schema in local)


def has_expressions(wants: Sequence[Any], local: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a condition on texts is more than a length, a part, a date or a list of texts.

    A date is written in many ways, so a part or a length of one is as bad.
    """
    told = {key for want in wants for key, _ in iterate_parts(want)}
    dated = any(
        parse_date(part) for want in wants for key, part in iterate_parts(want) if key in BOUNDS
    )
    if dated and ("$contains" in told or max(candidate_lengths(wants, local)) >= _SHORTEST_DATE):
        return True
    return bool(told & {"$matches", "$iequals"}) or any("pattern" in schema for schema in local)


def candidate_lengths(wants: Sequence[Any], local: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the lengths around which a condition changes its truth."""
    named = {0, 1, *(one[word] for one in local for word in _LENGTHS if is_number(one.get(word)))}
    inside = [part for want in wants for key, part in iterate_parts(want) if key == "$length"]
    named |= {part for one in inside for _, part in iterate_parts(one) if is_number(part)}
    for key, part in (pair for want in wants for pair in iterate_parts(want)):
        if isinstance(part, list):
            named.add(len(part))
        if key == "$path" and isinstance(part, Mapping):
            named |= {abs(step) for path in part for step in parse_path(path) if type(step) is int}
    around = {math.floor(one) + step for one in named for step in (-1, 0, 1)}
    return sorted(one for one in around if 0 <= one <= _LONGEST)


def candidate_texts(wants: Sequence[Any], local: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return texts among which one fits, if any does and `has_expressions` is false."""
    named = [part for part in list_named_values(wants, local) if isinstance(part, str)]
    expressions = [schema["pattern"] for schema in local if isinstance(schema.get("pattern"), str)]
    expressions += [
        part for want in wants for key, part in iterate_parts(want) if key == "$matches"
    ]
    named += [text for expression in expressions if (text := text_matching(expression)) is not None]
    bases = list(dict.fromkeys([*named, *_candidate_dates(wants), "a", "0"]))
    bases += [changed for text in named for changed in (text.lower(), text.upper(), text.title())]
    bases.append("".join(dict.fromkeys(named)))  # which contains each of them
    sizes = candidate_lengths(wants, local)
    limited = any(word in schema for schema in local for word in _LENGTHS) or any(
        key == "$length" for want in wants for key, _ in iterate_parts(want)
    )
    sized = [text[:size].ljust(size, "a") for text in bases for size in sizes] if limited else []
    return list(dict.fromkeys(["", *bases, *sized]))


def _candidate_dates(wants: Sequence[Any]) -> Iterator[str]:
    """Yield days and moments around those that are bounds."""
    bounds = [part for want in wants for key, part in iterate_parts(want) if key in BOUNDS]
    for day, shift in product(filter(None, map(parse_date, bounds)), (-1, 0, 1)):
        # The calendar has no day before year 1 or after year 9999.
        with suppress(OverflowError):
            moved = day + timedelta(days=shift)
            yield moved.isoformat()[:10]
            if isinstance(day, datetime):
                yield (day + timedelta(microseconds=shift)).isoformat()
                yield moved.isoformat()
            else:
                yield f"{moved.isoformat()}T00:00:00Z"
