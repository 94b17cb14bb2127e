"""A text as this package reads it: its words, their terms, its values and its quantities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from harness.models.lexical.dates import Period, operation_terms
from harness.models.lexical.text_values import Kind, TextValue, find_values
from harness.models.tool_text.actions import Action, find_requested_actions, is_negated, is_verb
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import (
    is_stop_word,
    stem_word,
    term_set,
    word_set,
)
from harness.types import dataclass

_LIST = stem_word("list")
_STATEMENT = (stem_word("sql"), stem_word("query"))
LONGEST_TEXT = 8_000
"""Characters of a text that are read; no request is longer."""
_REACH = 4  # words before and after a value that tell its meaning
_CLOSE = 2  # words between two values that belong together: "16:30 in Berlin"
_CLAUSE = 80  # characters before a value that are searched for "what" and "without"
_ASKS_FOR = re.compile(r"\b(?:what|when|which)\b[^.,;:!?\n\d]*\Z", re.IGNORECASE)
_LEAVES_OUT = re.compile(
    r"\b(?:without|except(?: for)?|excluding|other than|apart from|leave out|leaving out"
    r"|(?:not|don['’]t|never) "
    r"(?:include|show|list|read|return|use|touch|change|count|mention|open|look (?:at|in)))\s"
    r"(?:(?!\b(?:and|but|then)\b)[^.,;:!?\n])*\Z",
    re.IGNORECASE,
)
_ENUMERATING = frozenset(("what", "which"))
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a text."""

    text: str
    """The word in lower case, without a possessive ending."""
    term: str
    """Its stem."""
    start: int
    """Where it begins."""
    end: int
    """Where it ends."""
    negated: bool
    """Whether a word shortly before it says *not* or *without*."""
    in_value: bool
    """Whether it is part of a value, such as a word in quotes."""

    @property
    def is_stop(self) -> bool:
        """Whether it carries no meaning by itself."""
        return is_stop_word(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedText:
    """A text with all words, values and actions found in it."""

    text: str
    """The text itself."""
    words: tuple[Word, ...]
    """Every word, those inside values included."""
    values: tuple[TextValue, ...]
    """Everything that could become an argument."""
    actions: frozenset[Action]
    """The actions that the text asks for."""

    def query_terms(self) -> tuple[str, ...]:
        """Return the terms to search tools with: the words of the request without its values."""
        said = (word for word in self.words if not (word.is_stop or word.in_value))
        listing = [_LIST] if self._is_enumeration() else []
        # "Do not delete it" must not find a tool that deletes; "have not bought" is about
        # buying.
        terms = [word.term for word in said if not (word.negated and is_verb(word.text))]
        sums = (value.text for value in self.values if value.kind == "calculation")
        operations = [term for text in sums for term in operation_terms(text)]
        statement = _STATEMENT if any(value.kind == "sql" for value in self.values) else ()
        return tuple(dict.fromkeys([*terms, *listing, *operations, *statement]))

    def _is_enumeration(self) -> bool:
        """Whether it asks for several of something: "which files …"."""
        opening = [word for word in self.words[:4] if word.text != "and"]
        nouns = [word.text for word in opening[1:3] if not word.is_stop]
        asks = bool(opening) and opening[0].text in _ENUMERATING
        return asks and any(re.search(r"[^s]s$", noun) for noun in nouns)

    def all_terms(self) -> frozenset[str]:
        """Return all terms, values and negated words included."""
        return frozenset(word.term for word in self.words if not word.is_stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearbyWords:
    """The words around a value, up to the values next to it."""

    before: tuple[Word, ...]
    """Nearest last."""
    after: tuple[Word, ...]
    """Nearest first."""
    follows: Kind | None = None
    """The kind of the value before this one, if hardly a word is between them."""
    leads: Kind | None = None
    """The kind of the value after this one, likewise."""
    asked: bool = False
    """Whether a question word precedes it in its clause: "what time is it in"."""
    negated: bool = False
    """Whether its clause excludes it: "without the reports", "do not include /tmp"."""

    def all_terms(self) -> frozenset[str]:
        """Return the terms on both sides."""
        return frozenset(word.term for word in (*self.before, *self.after[:2]))

    def says_before(self, cues: frozenset[str], reach: int = 2) -> bool:
        """Whether one of ``cues`` stands within ``reach`` words before the value."""
        return any(word.text in cues for word in self.before[-reach:])


def find_nearby(value: TextValue, reading: ParsedText) -> NearbyWords:
    """Return the words around ``value``."""
    earlier = (one for one in reading.values if one.end <= value.start)
    later = (one for one in reading.values if one.start >= value.end)
    before = max(earlier, key=lambda one: one.end, default=None)
    after = min(later, key=lambda one: one.start, default=None)
    left = before.end if before is not None else 0
    right = after.start if after is not None else len(reading.text)
    close = before is not None and len(_WORD.findall(reading.text, left, value.start)) <= _CLOSE
    # A window: each value would otherwise search all the text before it.
    clause = reading.text[max(0, value.start - _CLAUSE) : value.start]
    words = reading.words
    return NearbyWords(
        before=tuple(w for w in words if left <= w.start and w.end <= value.start)[-_REACH:],
        after=tuple(w for w in words if value.end <= w.start and w.end <= right)[:_REACH],
        follows=before.kind if before is not None and close else None,
        leads=None if after is None else after.kind,
        asked=_ASKS_FOR.search(clause) is not None,
        negated=_LEAVES_OUT.search(clause) is not None,
    )


def parse_text(text: str, today: date) -> ParsedText:
    """Return the reading of ``text``, or of its beginning; dates are relative to ``today``."""
    # Cut before the cache, so that its keys stay short.
    return _parse_cached(text[:LONGEST_TEXT], today)


# In each reply all messages are read again, most of which have not changed.
@lru_cache(maxsize=512)
def _parse_cached(text: str, today: date) -> ParsedText:
    found = find_values(text, today)
    # "do not delete" in quotes is text to write, not an instruction.
    actions = find_requested_actions(_blank_quotes(text, found))
    return ParsedText(text=text, words=_split_words(text, found), values=found, actions=actions)


def _split_words(text: str, found: tuple[TextValue, ...]) -> tuple[Word, ...]:
    matches = list(_WORD.finditer(text))
    said = [_normalise_word(match[0]) for match in matches]
    opaque = find_covered(found)
    return tuple(
        Word(
            text=word,
            term=stem_word(word),
            start=match.start(),
            end=match.end(),
            negated=is_negated(said, place),
            in_value=match.start() in opaque,
        )
        for place, (match, word) in enumerate(zip(matches, said, strict=True))
    )


def _normalise_word(word: str) -> str:
    word = word.lower().replace("’", "'")
    return word[:-2] if word.endswith("'s") and not is_stop_word(word) else word


def find_covered(values: Iterable[TextValue]) -> set[int]:
    """Return the places in the text that are part of one of ``values``."""
    return {place for value in values for place in range(value.start, value.end)}


def _blank_quotes(text: str, found: Iterable[TextValue]) -> str:
    """Return ``text`` with its quoted parts replaced by spaces."""
    for value in found:
        if value.kind in ("quoted", "sql"):
            text = text[: value.start] + " " * (value.end - value.start) + text[value.end :]
    return text


Scored = tuple[str | int | float, float]
"""An argument and its score."""

_LIMIT = term_set("limit max maximum count top n size page results")
_LIMIT_CUES = word_set("top first last latest newest recent most max maximum limit up only at")
_AT_LEAST = word_set("over above exceeding least minimum min than from more greater higher larger")
_AT_MOST = word_set("under below most maximum max up less fewer lower smaller")
_MINIMUM = term_set("min minimum above over greater least lower gt gte") | {"from"}
_MAXIMUM = term_set("max maximum below under less most upper lt lte")
_MONEY = term_set(
    "amount price dollar usd eur cost salary principal "
    "contribution budget "
    "value fee revenue "
    "deposit payment balance invested"
)
_PERCENT = term_set("rate percent percentage interest discount share margin ratio growth tax")
_FRACTION = term_set("decimal fraction")
_SPANS = term_set("period timeframe range interval query")
_START = term_set("start since begin first min earliest") | {"from", "after"}
_END = term_set("end last max latest until") | word_set("to until before through till")
_DATED = term_set("date day start end since until begin timestamp datetime") | word_set(
    "from to before after"
)


def fit_number(param: Param, value: TextValue, around: NearbyWords) -> Scored | None:
    """Return ``value`` as a number for ``param``; ``None`` if it is out of bounds or no number."""
    # JSON has no infinity, and the server would get no valid request.
    if value.kind != "number" or not math.isfinite(value.number):
        return None
    amount = _convert_percent(param, value) if value.measure == "%" else value.number
    # A fraction is never rounded: it would be a number that nobody said.
    if param.kind == "integer" and not float(amount).is_integer():
        return None
    if not _is_in_bounds(param, amount):
        return None
    return amount, 1.0 + _score_unit(param, value) + _score_cues(param, value, around)


def _score_unit(param: Param, value: TextValue) -> float:
    """Score how the number's unit suits the parameter's topic."""
    if value.measure == "%":
        return 3.0 if param.terms & _PERCENT else -1.0
    if value.measure == "$":
        if param.terms & _MONEY:
            return 1.5
        return -1.5 if param.terms & _PERCENT else 0.0
    return -1.0 if _PERCENT & param.name_terms else 0.0


def _score_cues(param: Param, value: TextValue, around: NearbyWords) -> float:
    """Score what the words around the number say."""
    name, close = param.name_terms, around.all_terms()
    counted = term_set(value.unit)
    # Bounded, so that a long description does not win by its number of words.
    score = 2.0 * min(2, len(close & name)) + 1.0 * min(3, len(close & param.terms - name))
    if counted & name:
        score += 1.0
    if counted and value.measure == "" and param.terms & _MONEY and not counted & param.terms:
        score -= 2.0  # "7 orders" is not an amount of money
    if name & _LIMIT and value.measure == "":
        follows = any(word.text in _LIMIT_CUES for word in around.after[:1])
        cued = follows or around.says_before(_LIMIT_CUES)
        score += (2.0 if cued else 0.0) + (1.0 if counted & param.terms else 0.0)
    # "no more than 5" has words of both kinds, and is an upper bound.
    if around.says_before(_AT_LEAST) and not around.says_before(_AT_MOST):
        score += 3.0 if name & _MINIMUM else -3.0 if name & _MAXIMUM else 0.0
    elif around.says_before(_AT_MOST):
        score += 3.0 if name & _MAXIMUM else -3.0 if name & _MINIMUM else 0.0
    return score


def _convert_percent(param: Param, value: TextValue) -> float | int:
    """Return 7% as 0.07 where the parameter says that it takes a decimal, else as 7."""
    shown = [float(example) for example in param.examples if re.fullmatch(r"0?\.\d+", example)]
    highest = param.find_bound("maximum")
    is_decimal = shown or (highest is not None and highest <= 1) or param.terms & _FRACTION
    return round(value.number / 100, 12) if is_decimal else value.number


def _is_in_bounds(param: Param, number: float) -> bool:
    low, high = param.find_bound("minimum"), param.find_bound("maximum")
    return (low is None or number >= low) and (high is None or number <= high)


def fit_period(param: Param, value: TextValue, days: Period) -> Scored | None:
    """Return the year, day or words of a ``period`` that ``param`` takes, or ``None``.

    The day is the first or the last, as the parameter's name asks. A parameter such as "timeframe"
    takes the words.
    """
    if param.kind in ("integer", "number"):
        day = days.first or days.last
        return (day.year, 4.0) if day is not None and "year" in param.name_words else None
    if param.kind not in ("string", "any"):
        return None
    roles = param.name_terms | param.name_words
    dated = str(param.schema.get("format")).startswith("date") or roles & _DATED
    if not dated:
        return (value.text, 1.0) if roles & _SPANS else None
    # A name with words of both kinds takes the first day.
    ends = bool(roles & _END and not roles & _START)
    day = days.last if ends else days.first
    if day is None:
        return None
    if param.schema.get("format") != "date-time":
        return day.isoformat(), 4.0
    return f"{day.isoformat()}T{'23:59:59' if ends else '00:00:00'}Z", 4.0
