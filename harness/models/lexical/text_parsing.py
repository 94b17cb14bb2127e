"""A text as this package reads it: its words, their terms, and the values in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from harness.models.lexical.calculations import operation_terms
from harness.models.lexical.text_values import Kind, TextValue, find_values
from harness.models.tool_text.actions import Action, find_requested_actions, is_negated, is_verb
from harness.models.tool_text.terms import is_stop_word, stem_word

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
        operations = [
            term
            for value in self.values
            if value.kind == "calculation"
            for term in operation_terms(value.text)
        ]
        statement = _STATEMENT if any(value.kind == "sql" for value in self.values) else ()
        return tuple(dict.fromkeys([*terms, *listing, *operations, *statement]))

    def _is_enumeration(self) -> bool:
        """Whether it asks for several of something: "which files …"."""
        opening = [word for word in self.words[:4] if word.text != "and"]
        nouns = [word.text for word in opening[1:3] if not word.is_stop]
        return bool(
            opening
            and opening[0].text in _ENUMERATING
            and any(re.search(r"[^s]s$", noun) for noun in nouns)
        )

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
    before = max(
        (one for one in reading.values if one.end <= value.start),
        key=lambda one: one.end,
        default=None,
    )
    after = min(
        (one for one in reading.values if one.start >= value.end),
        key=lambda one: one.start,
        default=None,
    )
    left = before.end if before is not None else 0
    right = after.start if after is not None else len(reading.text)
    close = before is not None and len(_WORD.findall(reading.text, left, value.start)) <= _CLOSE
    # A window: each value would otherwise search all the text before it.
    clause = reading.text[max(0, value.start - _CLAUSE) : value.start]
    return NearbyWords(
        before=tuple(
            word for word in reading.words if left <= word.start and word.end <= value.start
        )[-_REACH:],
        after=tuple(
            word for word in reading.words if value.end <= word.start and word.end <= right
        )[:_REACH],
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
    masked = _blank_quotes(
        text, found
    )  # "do not delete" in quotes is text to write, not an instruction
    return ParsedText(
        text=text,
        words=_split_words(text, found),
        values=found,
        actions=find_requested_actions(masked),
    )


def _split_words(text: str, found: tuple[TextValue, ...]) -> tuple[Word, ...]:
    matches = list(_WORD.finditer(text))
    said = [_normalise_word(match[0]) for match in matches]
    opaque = _find_covered(found)
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


def _find_covered(found: Iterable[TextValue]) -> set[int]:
    return {place for value in found for place in range(value.start, value.end)}


def _blank_quotes(text: str, found: Iterable[TextValue]) -> str:
    """Return ``text`` with its quoted parts replaced by spaces."""
    for value in found:
        if value.kind in ("quoted", "sql"):
            text = text[: value.start] + " " * (value.end - value.start) + text[value.end :]
    return text
