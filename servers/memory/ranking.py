"""Keys by how well they fit a query: BM25+."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

_K1: Final = 1.5
_B: Final = 0.75
_DELTA: Final = 1.0
# The usual settings of BM25+ (Lv and Zhai, 2011).


def ranked(query: str, keys: Sequence[str], most: int) -> list[tuple[float, str]]:
    """Return at most ``most`` of ``keys`` with their scores, the best first.

    Equal ones stay in their order.
    """
    texts = [_words(key) for key in keys]
    mean = sum(map(len, texts)) / len(texts) if texts else 0.0
    holding = Counter(word for text in texts for word in set(text))

    def score(text: list[str]) -> float:
        length = _K1 * (1 - _B + _B * len(text) / mean) if mean else _K1
        counts = Counter(text)
        return math.fsum(
            math.log((len(texts) + 1) / holding[word])
            * (_DELTA + counts[word] * (_K1 + 1) / (length + counts[word]))
            for word in _words(query)
            if counts[word]
        )

    found = [(score(text), key) for text, key in zip(texts, keys, strict=True)]
    return sorted(found, key=lambda pair: -pair[0])[:most]


def _words(text: str) -> list[str]:
    return text.replace("_", " ").casefold().split()
