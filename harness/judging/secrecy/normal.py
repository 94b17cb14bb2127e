"""Normalise texts for comparison.

First a text is normalised (`normalised`): Unicode NFKC, lower case, no accents, no invisible
characters, Latin letters instead of Cyrillic and Greek lookalikes, ASCII digits instead of others.
Then it is squeezed (`Squeezed`) to its letters and digits, with the positions of each run of
letters or digits in the normalised text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from harness.base import LOOKALIKES, without_hidden

_ACCENTS = re.compile("[\u0300-\u036f]")
_RUN = re.compile(r"[^\W\d_]+|\d+")


def normalised(text: str) -> str:
    """Return ``text`` normalised line by line."""
    if text.isascii():
        return text.lower()
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    if line.isascii():
        return line.lower()
    shown = unicodedata.normalize("NFKC", without_hidden(line))
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", shown))
    return "".join(map(_plain, plain.casefold().translate(LOOKALIKES)))


def _plain(letter: str) -> str:
    """Return a digit of any script as an ASCII digit, a line separator as a space."""
    if letter.isascii():
        return letter
    if letter.isdigit():
        return str(unicodedata.digit(letter))
    return " " if letter in "\u2028\u2029\x85" else letter


class Squeezed:
    """The letters and digits of a normalised text."""

    def __init__(self, text: str) -> None:
        """Squeeze the normalised ``text``."""
        self._text = text
        runs = _RUN.findall(text)
        ends = list(accumulate(map(len, runs)))
        self.squeezed = "".join(runs)
        """Its letters and digits."""
        self.starts = [0, *ends[:-1]] if ends else []
        """The start of each run of letters or digits in `squeezed`."""
        self.ends = frozenset(ends)
        """The ends of runs in `squeezed`."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the text of the squeezed characters ``start`` to ``end``."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, offset: int) -> int:
        run = bisect_right(self.starts, offset) - 1
        return self._at[run] + offset - self.starts[run]

    @cached_property
    def _at(self) -> list[int]:
        """The start of each run in the text, computed only if a value was found."""
        return [match.start() for match in _RUN.finditer(self._text)]
