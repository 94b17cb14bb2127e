"""Values and records in comparable form: graded by how improbable an accidental match is.

| grade | what                                                           | a match counts         |
|-------|----------------------------------------------------------------|------------------------|
| 0     | true, false, null, round numbers below 1000, years, one word   | in the same field      |
| 1     | several words (names), dates, numbers of two or more digits    | in fields named alike  |
| 2     | 5 or more characters with digits or ``@``, long texts, numbers | anywhere, in prose too |
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from harness.base import list_readings
from harness.judging.matching.amounts import find_figures
from harness.judging.matching.texts import fold_text
from harness.judging.secrecy.masks import is_masked

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:[ t]\d\d:\d\d.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d,']*(?:\.\d+)?")
_WORD = re.compile(r"\w+")
# The bounds between the grades of the table above.
_YEARS = range(1900, 2101)
_SMALL = 1_000
_SHORT, _LONG = 5, 24
_MANY_DIGITS = 5
_PHONE_DIGITS = 7
_EXACT_DIGITS = 6
_SEARCHED = 200_000
"""Maximum number of characters of one text that are searched."""


class ComparableValue(NamedTuple):
    """A scalar in comparable form."""

    text: str
    """The text without differences of case, white space and typography."""
    number: float | None
    """Its number in any notation; ``None`` if it is no number."""
    digits: str
    """Its digits, if it has hardly other characters: a telephone or an identity number."""
    grade: int
    """0 to 2, by the table above."""


def to_comparable(scalar: Any) -> ComparableValue | None:
    """Return a JSON scalar in comparable form; ``None`` for null and the empty text."""
    if scalar is None or isinstance(scalar, dict | list):
        return None
    return _build_comparable(scalar, type(scalar).__name__)


# The name of the type is part of the key: to a cache, `1`, `1.0` and `True` are one.
@lru_cache(maxsize=50_000)
def _build_comparable(scalar: Any, kind: str) -> ComparableValue | None:
    if kind == "bool":
        return ComparableValue(str(scalar).lower(), None, "", 0)
    text = fold_text(str(scalar))
    if not text:
        return None
    number = _parse_number(scalar, text)
    digits = "".join(filter(str.isdigit, text))
    # Telephones are compared by their digits alone. A date has as many, but is none.
    bare = (
        len(digits) >= _PHONE_DIGITS
        and not any(map(str.isalpha, text))
        and not _DATE.fullmatch(text)
    )
    # A mask is recognised by its line breaks, which folding removes.
    grade = _grade_text(text, masked=is_masked(scalar)) if number is None else _grade_number(number)
    return ComparableValue(text, number, digits if bare else "", grade)


def _parse_number(scalar: Any, text: str) -> float | None:
    # With a leading zero it is an id or a code, where 007 and 7 are two.
    if isinstance(scalar, str) and (not _NUMBER.fullmatch(text) or re.match(r"[-+]?0\d", text)):
        return None
    try:
        number = float(re.sub(r"[$€£,'+]", "", text) if isinstance(scalar, str) else scalar)
    # No float can hold this integer: it is compared as a text.
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _grade_number(number: float) -> int:
    # Ten digits, to leave out the rounding errors of floats.
    telling = f"{abs(number):.10g}".replace(".", "").strip("0")
    # Beyond 1e15 no float has a fraction.
    whole = number == int(number) if abs(number) < 1e15 else True  # noqa: PLR2004
    is_common = whole and (abs(number) < _SMALL or number in _YEARS)
    if len(telling) < 2 or is_common:  # noqa: PLR2004 - one digit is too common
        return 0
    size = len(str(int(abs(number)))) if whole else len(telling)
    return 2 if size >= _MANY_DIGITS else 1


def is_exact(value: ComparableValue) -> bool:
    """Whether a number has so many digits that an accidental match is improbable."""
    if value.number is None:
        return False
    return len(f"{abs(value.number):.12g}".replace(".", "").strip("0")) >= _EXACT_DIGITS


def _grade_text(text: str, *, masked: bool) -> int:
    if masked or len(text) < _SHORT - 1:
        return 0
    if _DATE.fullmatch(text):
        return 1
    words = text.split()
    if any(map(str.isdigit, text)) or "@" in text:
        return 2 if len(text) >= _SHORT else 0
    if len(text) >= _LONG and len(words) > 2:  # noqa: PLR2004 - more than a name
        return 2
    return 1 if len(words) > 1 else 0


def is_same_value(left: ComparableValue, right: ComparableValue) -> bool:
    """Return whether two values mean the same."""
    if left.number is not None and right.number is not None:
        return left.number == right.number
    return left.text == right.text or bool(left.digits and left.digits == right.digits)


class Prose:
    """A text to be searched for values, folded once."""

    def __init__(self, text: str) -> None:
        """Take the text, or its first `_SEARCHED` characters."""
        self._text = text[:_SEARCHED]
        # In each reading: marks within a value hide it in one of them.
        self._folded = "\n".join(map(fold_text, list_readings(self._text)))

    def contains_value(self, value: ComparableValue) -> bool:
        """Return whether the text has the value, as a whole word and in any notation."""
        if value.number is not None:
            return value.number in self.numbers
        # No pattern: it would take many times as long, and a text is asked for thousands of values.
        start = found = self._folded.find(value.text)
        while start >= 0:
            if not self._is_within_word(start, start + len(value.text)):
                return True
            start = self._folded.find(value.text, start + 1)
        return found < 0 and bool(value.digits) and value.digits in _squeeze_text(self._folded)

    def _is_within_word(self, start: int, end: int) -> bool:
        return any(
            letter.isalnum() or letter == "_"
            for letter in (*self._folded[max(0, start - 1) : start], *self._folded[end : end + 1])
        )

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Every number of the text, in all possible readings."""
        return frozenset(find_figures(self._text))

    def list_words(self) -> frozenset[str]:
        """Return every word of the text and every group of digits, each once."""
        squeezed = _squeeze_text(self._folded)
        return frozenset(_WORD.findall(self._folded)).union(_WORD.findall(squeezed))


def _squeeze_text(text: str) -> str:
    """Return ``text`` without the separators of telephone numbers."""
    return re.sub(r"(?<=\d)[ ().\-/]+(?=\d|\()", "", text)


def shorten_scalar(scalar: Any) -> str:
    """Return a part of a value that suffices to recognise it but does not reveal it."""
    text = " ".join(str(scalar).split())
    if len(text) <= _SHORT:
        return f"{text[:1]}…"
    return f"{text[:2]}…{text[-1:]}" if len(text) < _SHORT * 2 else f"{text[:3]}…{text[-2:]}"


_IDENTIFYING = re.compile(
    r"(?i:(?:^|[_.\- ])(?:id|uuid|key|name|number|code|email|login|username|ssn)$)"
    r"|[a-z](?:Id|Name|Key)$"
)


class JsonRecord:
    """A JSON object; its ids are determined once for all its fields."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        """Its fields."""

    @cached_property
    def ids(self) -> Mapping[str, ComparableValue]:
        """Name → value of each identifying field that is not masked."""
        return {
            key: value
            for key, scalar in self.fields.items()
            if _IDENTIFYING.search(key)
            and (value := to_comparable(scalar)) is not None
            and not is_masked(scalar)
        }

    @property
    def names(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(map(str, self.fields))


NOTHING = JsonRecord({})
"""The record of a value that is not in an object."""


class _SharedIds(NamedTuple):
    """The names of the ids that two objects share."""

    agreeing: frozenset[str]
    differing: frozenset[str]


def same_record(ours: JsonRecord, theirs: JsonRecord, except_for: str) -> bool | None:
    """Return true if two objects share an id, false if an id differs; else ``None``."""
    shared = _compare_ids(ours, theirs)
    # The excepted name alone does not suffice.
    if shared.differing - {except_for}:
        return False
    return True if shared.agreeing - {except_for} else None


def unlike_records(ours: JsonRecord, theirs: JsonRecord, except_for: str) -> bool:
    """Return whether two objects have ids to compare, and all of them differ."""
    shared = _compare_ids(ours, theirs)
    return bool(shared.differing - {except_for}) and not shared.agreeing - {except_for}


# Records have no equality of their own, so the cache compares none of their contents.
@lru_cache(maxsize=256)
def _compare_ids(ours: JsonRecord, theirs: JsonRecord) -> _SharedIds:
    """Compare the ids of two objects; cached, since it is needed for each of their fields."""
    both = ours.ids.keys() & theirs.ids.keys()
    agreeing = frozenset(key for key in both if is_same_value(ours.ids[key], theirs.ids[key]))
    return _SharedIds(agreeing, frozenset(both - agreeing))


def same_kind(ours: JsonRecord, theirs: JsonRecord) -> bool:
    """Return whether two objects are records of the same kind: half of their fields are the same.

    An object without fields may be of any kind.
    """
    fewer = min(len(ours.names), len(theirs.names))
    return 2 * len(ours.names & theirs.names) >= fewer
