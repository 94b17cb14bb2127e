"""Arguments that a request names by a word: members of an enum, aliases, examples, and flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.models.lexical.calculations import NAMES, operators
from harness.models.lexical.dates import days_in
from harness.models.lexical.read_text import Reading, Word
from harness.models.lexical.time_zones import zone_of
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import stem, synonyms, terms, words


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A value for one parameter, and where the request says it."""

    argument: Any
    """The value that is sent."""
    score: float
    """How certain the match is; see `affinity`."""
    start: int
    """Where its words begin in the request's text."""
    end: int
    """Where they end."""
    said: str
    """Its words."""


SURE = 5.0
"""Score of a value that the request names literally."""
_OTHER_WORD = 3.5  # score of a synonym of it

_DURATION = re.compile(
    r"(?P<number>\d{1,4})\s*(?P<unit>d|wk?|mo?|q|y|days?|weeks?|months?|years?)", re.IGNORECASE
)
_UNITS = {
    "d": "day",
    "w": "week",
    "wk": "week",
    "m": "month",
    "mo": "month",
    "q": "quarter",
    "y": "year",
}
_SAID_DURATION = re.compile(
    r"\b(?:(?:last|past|previous|over|one|an?)\s+)?(?:(?P<number>\d{1,4})[\s-]?)?(?P<unit>day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)

_FLAG_WORDS = frozenset(
    terms("include including show return returns whether enable flag is has with true false set "
        "also info "
          "information detail details data extra additional default if add result results full")
)  # fmt: skip
"""Words that the name or description of any flag may have; they do not tell flags apart."""
_TOGETHER = 4  # words of the text among which the terms of a flag's name must lie
_ADDRESSES = frozenset(("url", "path", "file", "glob", "email", "zone", "sql"))
_EVERY = frozenset(("all", "every", "each", "any", "whole", "everything"))
_TURNED_ROUND = frozenset(terms("exclude skip hide omit ignore disable no"))


def named_choices(param: Param, reading: Reading) -> list[Found]:
    """Return the members of an enum, or the known values of any string, that a request names."""
    found = [_by_alias(value, alias, reading) for alias, value in param.aliases]
    if param.choices:
        found += [_by_name(choice, reading) for choice in param.choices]
        found += [_by_duration(choice, reading) for choice in param.choices]
        found += [_by_operation(choice, reading) for choice in param.choices]
        if not any(found):
            found = [_by_synonym(choice, reading) for choice in param.choices]
    elif param.kind in ("string", "any"):
        found += [_by_example(example, reading) for example in param.examples]
    unique: dict[str, Found] = {}
    for one in sorted(
        (one for one in found if one is not None), key=lambda one: (one.start, -one.score)
    ):
        unique.setdefault(repr(one.argument), one)
    return list(unique.values())


def named_flag(param: Param, reading: Reading, known: frozenset[str]) -> Found | None:
    """Return whether a request turns a flag on or off; ``None`` if it does not mention it.

    ``known`` holds the terms of the tool itself, which every request for the tool uses.
    """
    if "all" in param.name_words and not any(word.text in _EVERY for word in reading.words):
        return None
    by_name = param.name_terms - _FLAG_WORDS - _TURNED_ROUND
    by_description = param.terms - _FLAG_WORDS - _TURNED_ROUND - known - by_name
    word = _speaks_of(by_name, reading) or _speaks_of(by_description, reading)
    if word is None:
        return None
    leaves_out = not _TURNED_ROUND.isdisjoint(param.name_terms)
    if leaves_out and not word.negated:
        return None  # "with its images" does not set ``exclude_images``
    return _found(leaves_out or not word.negated, SURE, word.start, word.end, reading)


def _speaks_of(wanted: frozenset[str], reading: Reading) -> Word | None:
    """Return the word near which most of ``wanted`` occurs; of several such, the first.

    For ``thought_needed`` that is the second "thought" of "Record thought 3. No more thought is
    needed".
    """
    best, most = None, 0
    addresses = [(value.start, value.end) for value in reading.values if value.kind in _ADDRESSES]
    for place, word in enumerate(reading.words):
        if any(start <= word.start < end for start, end in addresses):
            continue  # ``/index.html`` does not ask for HTML
        if not word.is_stop and any(term in wanted for term in (word.term, *synonyms(word.term))):
            close = {other.term for other in reading.words[place : place + _TOGETHER]} & wanted
            if len(close) > most or best is None:
                best, most = word, len(close)
    return best


def _by_name(choice: Any, reading: Reading) -> Found | None:
    if isinstance(choice, bool) or not isinstance(choice, (str, int, float)):
        return None
    wanted = [stem(word) for word in words(str(choice))]
    if not wanted or re.search(r"\d", str(choice)):
        return _literally(str(choice), choice, reading)
    for run in _runs(reading, len(wanted)):
        if [word.term for word in run] == wanted and not run[0].negated:
            return _found(choice, SURE, run[0].start, run[-1].end, reading)
    return None


def _by_synonym(choice: Any, reading: Reading) -> Found | None:
    wanted = terms(str(choice)) if isinstance(choice, str) else ()
    for word in reading.words:
        if (
            len(wanted) == 1
            and wanted[0] in synonyms(word.term)
            and not (word.negated or word.is_stop)
        ):
            return _found(choice, _OTHER_WORD, word.start, word.end, reading)
    return None


def _by_alias(value: Any, alias: tuple[str, ...], reading: Reading) -> Found | None:
    held = [next((word for word in reading.words if word.term == term), None) for term in alias]
    present = [word for word in held if word is not None and not word.negated]
    if len(present) < len(alias):
        return None
    return _found(value, SURE, min(w.start for w in present), max(w.end for w in present), reading)


def _by_example(example: str, reading: Reading) -> Found | None:
    """Match an example itself, or the last part of one such as ``America/New_York``."""
    whole = _literally(example, example, reading) or _one_of(example, reading)
    last = example.rpartition("/")[2].replace("_", " ")
    if zone_of(last) == example:
        return (
            whole  # `affinity` tells by the words around a city which of two time zones it is for
        )
    return whole or (
        _literally(last, example, reading) if "/" in example and last[:1].isupper() else None
    )


def _one_of(example: str, reading: Reading) -> Found | None:
    """Match "the service checkout" with an example ``services``."""
    word = next(
        (
            word
            for word in reading.words
            if example.isalpha() and word.term == stem(example.lower())
        ),
        None,
    )
    return (
        _found(example, SURE, word.start, word.end, reading)
        if word and not (word.is_stop or word.negated)
        else None
    )


def _literally(text: str, argument: Any, reading: Reading) -> Found | None:
    match = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", reading.text, re.IGNORECASE)
    return _found(argument, SURE, match.start(), match.end(), reading) if match else None


def _by_duration(choice: Any, reading: Reading) -> Found | None:
    """Match ``6mo`` with "the last 6 months" and ``1y`` with "the past year"."""
    own = _DURATION.fullmatch(choice) if isinstance(choice, str) else None
    if own is None:
        return None
    unit = own["unit"].lower()
    length = days_in(int(own["number"]), _UNITS.get(unit, unit))
    for match in _SAID_DURATION.finditer(reading.text):
        said = days_in(int(match["number"] or 1), match["unit"])
        if said is not None and length is not None and abs(said - length) <= length * 0.04:
            return _found(choice, SURE, match.start(), match.end(), reading)
    return None


def _by_operation(choice: Any, reading: Reading) -> Found | None:
    """Match ``multiply``, or ``*``, with "17 * 23"."""
    for value in reading.values:
        used = (
            set(operators(value.text))
            if value.kind == "calculation" and isinstance(choice, str)
            else set()
        )
        if len(used) == 1 and (choice in used or NAMES[used.pop()] & frozenset(terms(choice))):
            return _found(choice, SURE, value.start, value.start, reading)
    return None


def _runs(reading: Reading, length: int) -> Iterator[tuple[Word, ...]]:
    """Yield every stretch of ``length`` words."""
    for place in range(len(reading.words) - length + 1):
        yield reading.words[place : place + length]


def _found(argument: Any, score: float, start: int, end: int, reading: Reading) -> Found:
    return Found(argument=argument, score=score, start=start, end=end, said=reading.text[start:end])
