"""Splits a description into sentences, and removes some of them."""

from __future__ import annotations

import re
from collections.abc import Collection

_END = re.compile(
    r"""(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)\s+(?=\S)
      | \s*\n\s*(?=\S)""",
    re.VERBOSE,
)
"""End of a sentence: a full stop, or the end of a line such as a list item."""


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of ``text``, trimmed; lines of a list are sentences of their own."""
    return tuple(part for part in _END.split(text.strip()) if part)


def remove_sentences(text: str, numbers: Collection[int]) -> str:
    """Return ``text`` without the sentences of those ``numbers``, counted from 1.

    The rest is unchanged, including the white space between sentences.
    """
    kept: list[str] = []
    position = 0
    stripped = text.strip()
    for number, sentence in enumerate(split_sentences(stripped), start=1):
        # From `position` on, because a description may say the same sentence twice.
        start = stripped.index(sentence, position)
        gap, position = stripped[position:start], start + len(sentence)
        if number not in numbers:
            kept.append((gap if kept else "") + sentence)
    return "".join(kept)
