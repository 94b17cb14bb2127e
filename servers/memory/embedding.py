"""Texts as vectors, without a language model: hashed words and letter groups, compared by cosine.

Each word and each group of three letters of a word falls by its hash into one of `DIMENSIONS`
places; a place holds 1 + ln(count). When entries are compared with a query, places that many
entries share weigh less (inverse document frequency). It finds texts that share words, word stems
and spellings with the query. It knows no meaning: *car* and *automobile* are as far apart as any
two words.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

DIMENSIONS: Final = 2048
"""Places of a vector: many enough that few words share one by accident."""

Places: TypeAlias = dict[int, float]
"""The places of a vector that hold something."""

_WORDS: Final = re.compile(r"\w+")
_GROUP: Final = 3
_WORD_WEIGHT: Final = 2.0
"""A whole word says more than three letters of it."""


def embed(text: str) -> bytes:
    """Return the vector of ``text``: `DIMENSIONS` floats of 4 bytes.

    The same text always gives the same.
    """
    vector = array("f", bytes(4 * DIMENSIONS))
    for feature, count in Counter(_features(text)).items():
        weight = _WORD_WEIGHT if feature.startswith("=") else 1.0
        vector[zlib.crc32(feature.encode()) % DIMENSIONS] += weight * (1 + math.log(count))
    return vector.tobytes()


def similarities(query: str, vectors: Sequence[bytes]) -> list[float]:
    """Return how similar each of ``vectors`` is to ``query``, from 0 (not at all) to 1 (equal)."""
    entries = [_places(vector) for vector in vectors]
    holding = Counter(place for entry in entries for place in entry)
    asked = _weighted(_places(embed(query)), holding, len(entries))
    return [_cosine(asked, _weighted(entry, holding, len(entries))) for entry in entries]


def _features(text: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for word in _WORDS.findall(folded.replace("_", " ")):
        yield f"={word}"
        edged = f" {word} "
        yield from (edged[place : place + _GROUP] for place in range(len(edged) - _GROUP + 1))


def _places(vector: bytes) -> Places:
    return {place: value for place, value in enumerate(array("f", vector)) if value}


def _weighted(places: Places, holding: Mapping[int, int], entries: int) -> Places:
    return {
        place: value * (math.log((1 + entries) / (1 + holding[place])) + 1)
        for place, value in places.items()
    }


def _cosine(one: Places, other: Places) -> float:
    both = math.fsum(value * other[place] for place, value in one.items() if place in other)
    length = math.hypot(*one.values()) * math.hypot(*other.values())
    return both / length if length else 0.0
