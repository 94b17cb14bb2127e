"""Turns text into comparable terms, and into an estimate of tokens, by which long results are cut.

A *word* is a word as typed, in lower case; a *term* is the stem of a word that carries meaning. All
functions here are pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from snowballstemmer.english_stemmer import (  # type: ignore[import-untyped]  # the package ships no types
    EnglishStemmer,
)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_WORD = 40  # stemming takes linear time in the word; nothing longer is a word


def word_set(listed: str) -> frozenset[str]:
    """Return the words in ``listed``, which are separated by white space."""
    return frozenset(listed.split())


_STOP = word_set(
    """
    a about above all also am an and any anything are aren't as at be been being below both but by
    can can't could did do does doesn't doing don't each either else etc every everything few for
    from further give given gives had has have having he her here hers hi him his how i i'd i'll i'm
    i've if in into is isn't it it's its just let let's like many may me might more most much must
    my need no nor not now of off on once one only onto or other our ours out over own per please
    same shall she should so some such tell than thank thanks that the their theirs them themselves
    then there these they this those through to too under until up us used uses using very want was
    we well were what what's when where whether which while who whom whose why will with within
    without would yet you your yours optional required called named titled entitled
    """
)
"""Stop words: they do not tell which tool is meant."""

_SYNONYMS = """
    customer client buyer account
    order purchase transaction
    buy bought purchase order
    spend spent spending
    employee staff worker personnel colleague
    salary pay earn wage compensation
    price cost quote worth
    stock share equity
    company firm corporation business
    folder directory
    file document
    sum add plus total
    difference change diff
    history log past
    revenue sale turnover
    product item article
    leave churn quit
    trend growth grow development
    inactive dormant
    big large size
    user person people member
    message text
    text txt
    find search lookup look seek
    list enumerate
    show display view print present
    get fetch retrieve read return obtain
    create make new build
    delete remove erase purge drop destroy wipe
    update change modify edit alter
    calculate compute
    profile detail record
    personal private sensitive pii identifiable
    email mail
    phone telephone mobile
    address street
    delay lag
    error failure fault
    ticket issue
    convert translate
    weather forecast
    content say contain
    whole entire complete full
    column field schema
    vacation holiday
    day daily
    week weekly
    month monthly
    year yearly annual
    """
"""Synonyms, one group a line; general English and office language."""


# Each word of each tool and message is stemmed again in every reply.
@lru_cache(maxsize=20_000)
def stem_word(word: str) -> str:
    """Return the stem of a lower-case word: ``categories`` and ``category`` are one term."""
    return str(_STEMMER.stemWord(word[:_LONGEST_WORD]))


_STEMMER = EnglishStemmer()


def split_words(text: str) -> list[str]:
    """Return the words of prose or of an identifier: ``getCustomer_details`` has three."""
    return [_strip_possessive(match) for match in _WORD.findall(_HUMP.sub(" ", text).lower())]


@lru_cache(maxsize=4_000)
def extract_terms(text: str) -> tuple[str, ...]:
    """Return the stems of the words that carry meaning, in order, with repetitions."""
    return tuple(stem_word(word) for word in split_words(text) if word not in _STOP)


def term_set(text: str) -> frozenset[str]:
    """Return the terms of ``text``, each once."""
    return frozenset(extract_terms(text))


def is_stop_word(word: str) -> bool:
    """Whether ``word``, in lower case, carries no meaning by itself."""
    return word in _STOP


def find_synonyms(term: str) -> tuple[str, ...]:
    """Return the synonyms of ``term``."""
    return _THESAURUS.get(term, ())


def first_sentence(text: str) -> str:
    """Return the text before the first full stop or empty line."""
    return re.split(r"(?<=[.!?])\s|\n\s*\n", text.strip(), maxsplit=1)[0]


def _strip_possessive(word: str) -> str:
    """Drop a possessive ending."""
    return (
        word[:-2] if word.endswith(("'s", "’s")) and word not in _STOP else word.replace("’", "'")
    )


def _load_thesaurus() -> dict[str, tuple[str, ...]]:
    related: dict[str, dict[str, None]] = {}
    for line in _SYNONYMS.strip().splitlines():
        # Synonyms are found by stem, since texts are compared by stems.
        group = [stem_word(word) for word in line.split()]
        for term in group:
            related.setdefault(term, {}).update(dict.fromkeys(o for o in group if o != term))
    return {term: tuple(others) for term, others in related.items()}


_THESAURUS = _load_thesaurus()


CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for JSON and alphabetic languages; each provider counts a little differently."""


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens that ``text`` takes."""
    dense = sum(map(_is_dense, text))
    return (len(text) - dense) // CHARACTERS_PER_TOKEN + dense


def take_beginning(text: str, most: int) -> str:
    """Return the longest beginning of ``text`` that takes at most about ``most`` tokens."""
    # No longer beginning can fit: a result may have megabytes, and each step below counts anew.
    longest = min(len(text), (most + 1) * CHARACTERS_PER_TOKEN)
    # By bisection, which holds as the estimate never falls with a longer text.
    sizes = range(1, longest + 1)
    return text[: bisect_right(sizes, most, key=lambda size: estimate_tokens(text[:size]))]


def _is_dense(c: str) -> bool:
    """Whether a letter takes about one token by itself, as in Chinese, Japanese and Korean."""
    return "\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7a3" or "\uf900" <= c <= "\ufaff"


_CUT = re.compile(
    r"\[The result was cut here: it takes about [\d,]+ tokens, and [\d,]+ are shown\.\]\Z"
)


def cut_result(text: str, most: int) -> str:
    """Return ``text``, cut after ``most`` tokens and with a note if it is longer."""
    if (size := estimate_tokens(text)) <= most:
        return text
    note = f"[The result was cut here: it takes about {size:,} tokens, and {most:,} are shown.]"
    return f"{take_beginning(text, most)}\n{note}"


def cut_note(text: str) -> str:
    """Return the note at the end of a result that `cut_result` has cut; empty if it was not cut."""
    # At its end alone: a server may quote the note in a result of its own.
    found = _CUT.search(text)
    return "" if found is None else found[0]
