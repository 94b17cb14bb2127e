"""How the arguments of a call differ from the expected ones, shown side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from harness.judging.matching.json_values import ABSENT, format_value, is_number, type_name
from harness.judging.matching.matchers import (
    describe_pattern,
    explain_unlike,
    is_matcher,
    matches_pattern,
)
from harness.judging.matching.texts import clip_text, fold_text
from harness.types import JsonObject, dataclass

_WIDTH = 44
_MAX_ROWS = 6
_MAX_REORDERED = 100  # elements: comparing them in any order takes quadratic time


@dataclass(frozen=True, slots=True)
class ArgumentDifference:
    """One argument, or a part of one, that differs from what was expected."""

    path: str
    """Path of the difference: ``filter.tags[0]``; empty for the arguments as a whole."""
    expected: Any
    """The expected pattern at this path."""
    actual: Any
    """The value that was sent; `ABSENT` when there is none."""
    note: str = ""
    """What kind of difference it is, where known: a type, a case, another path."""

    @property
    def argument(self) -> str:
        """The name of the top-level argument that contains the difference."""
        return self.path.split(".")[0].split("[")[0]


def find_differences(pattern: JsonObject, given: JsonObject) -> tuple[ArgumentDifference, ...]:
    """Return how ``given`` differs from ``pattern`` (partial at its top); empty if it matches."""
    if is_matcher(pattern):
        return tuple(_find_between(pattern, given, ""))
    found: list[ArgumentDifference] = []
    for name, part in pattern.items():
        value = given.get(name, ABSENT)
        # A pattern may also want that there is no such argument.
        if value is ABSENT and not matches_pattern(part, value):
            note = _note_elsewhere(name, part, given)
            found.append(ArgumentDifference(name, part, ABSENT, note))
        else:
            found.extend(_find_between(part, value, name))
    return tuple(found)


def _find_between(pattern: Any, value: Any, path: str) -> Iterator[ArgumentDifference]:
    if matches_pattern(pattern, value):
        return
    if isinstance(pattern, Mapping) and isinstance(value, Mapping) and not is_matcher(pattern):
        for key in dict.fromkeys([*pattern, *value]):
            inside = f"{path}.{key}"
            if key in pattern:
                yield from _find_between(pattern[key], value.get(key, ABSENT), inside)
            else:
                note = "not expected here"
                yield ArgumentDifference(inside, ABSENT, value[key], note)
    elif isinstance(pattern, list) and isinstance(value, list) and len(pattern) == len(value):
        if _is_reordered(pattern, value):
            note = "the same elements in another order"
            yield ArgumentDifference(path, pattern, value, note)
            return
        for index, (part, element) in enumerate(zip(pattern, value, strict=True)):
            yield from _find_between(part, element, f"{path}[{index}]")
    else:
        yield ArgumentDifference(path, pattern, value, _explain_difference(pattern, value))


def _note_elsewhere(name: str, pattern: Any, given: JsonObject) -> str:
    """Return a note on the other argument that has the expected value, if one has it."""
    # Another value may match a matcher by chance.
    for key, value in () if is_matcher(pattern) else given.items():
        if key != name and matches_pattern(pattern, value):
            return f"the value was given as {format_value(key)}"
    return ""


def _explain_difference(pattern: Any, value: Any) -> str:
    if value is ABSENT:
        return ""
    given = f"{format_value(value, 30)} ({type_name(value)})"
    if is_matcher(pattern):
        if "$approx" in pattern and not is_number(value):
            return f"{format_value(value, 30)} is a {type_name(value)}"
        return explain_unlike(pattern, value)
    if type_name(pattern) != type_name(value):
        return f"{given} instead of {format_value(pattern, 30)} ({type_name(pattern)})"
    if isinstance(pattern, list):
        return f"{len(value)} elements instead of {len(pattern)}"
    return _text_note(pattern, value) if isinstance(pattern, str) else ""


def _text_note(wanted: str, given: str) -> str:
    if wanted.casefold() == given.casefold():
        return "differs only in case"
    if wanted.split() == given.split():
        return "differs only in white space"
    is_alike = fold_text(wanted) == fold_text(given)
    return "differs only in the form of letters and marks" if is_alike else ""


def _is_reordered(wanted: Sequence[Any], given: Sequence[Any]) -> bool:
    """Whether two lists differ only in the order of their elements; false for long lists."""
    if len(wanted) > _MAX_REORDERED:
        return False
    # Greedy: with matchers, an order may be missed, which costs only the note on it.
    left = list(given)
    for part in wanted:
        places = (place for place, element in enumerate(left) if matches_pattern(part, element))
        if (place := next(places, None)) is None:
            return False
        del left[place]
    return True


def format_both_sides(difference: ArgumentDifference) -> tuple[str, str]:
    """Return both sides as text; of two long strings, the part where they begin to differ."""
    wanted, given = difference.expected, difference.actual
    if isinstance(wanted, str) and isinstance(given, str) and max(len(wanted), len(given)) > _WIDTH:
        # A few characters before the difference show where it is.
        same = takewhile(lambda pair: pair[0] == pair[1], zip(wanted, given, strict=False))
        start = max(0, len(list(same)) - 15)
        ahead, width = "…" if start else "", _WIDTH - 1
        wanted, given = format_value(wanted[start:], width), format_value(given[start:], width)
        return ahead + wanted, ahead + given
    expected = "(none)" if wanted is ABSENT else describe_pattern(wanted, _WIDTH)
    return expected, format_value(given, _WIDTH)


def format_differences(found: Sequence[ArgumentDifference]) -> list[str]:
    """Return the differences as the lines of a table: argument, expected, actual, note."""
    rows = [("argument", "expected", "actual", "")]
    for difference in found[:_MAX_ROWS]:
        # As JSON without its quotation marks, which escapes what a terminal would obey.
        name = clip_text(format_value(difference.path)[1:-1], 32) or "(all arguments)"
        rows.append((name, *format_both_sides(difference), difference.note))
    # The note is the last column, so it needs no width.
    widths = [*(max(map(len, column)) for column in list(zip(*rows, strict=True))[:3]), 0]
    lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    more = len(found) - _MAX_ROWS
    return [*lines, f"  … and {more} more"] if more > 0 else lines


def measure_distance(pattern: JsonObject, given: JsonObject) -> tuple[int, int]:
    """Return how far a call's arguments are from the pattern; the smallest is the closest call.

    The first number counts the arguments that differ. The second counts those of them that are no
    near miss: a near miss has another type or case, another name, or is wrong in a part only.
    """
    found = find_differences(pattern, given)
    wrong = {part.argument for part in found}
    far = {part.argument for part in found if not part.note and part.path == part.argument}
    return len(wrong), len(far)
