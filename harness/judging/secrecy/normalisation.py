"""Normalise texts for comparison.

First a text is normalised (`normalise_text`): Unicode NFKC, lower case, no accents, no invisible
characters, Latin letters instead of Cyrillic and Greek lookalikes, ASCII digits instead of others.
Then it is squeezed (`SqueezedText`) to its letters and digits, with the positions of each run of
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


def normalise_text(text: str) -> str:
    """Return ``text`` normalised line by line."""
    if text.isascii():
        return text.lower()
    # Line by line, so that the numbers of lines stay, and lines in ASCII take hardly any time.
    return "\n".join(map(_normalise_line, text.split("\n")))


def _normalise_line(line: str) -> str:
    if line.isascii():
        return line.lower()
    shown = unicodedata.normalize("NFKC", without_hidden(line))
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", shown))
    return "".join(map(_plain_letter, plain.casefold().translate(LOOKALIKES)))


def _plain_letter(letter: str) -> str:
    """Return a digit of any script as an ASCII digit, a line separator as a space."""
    if letter.isascii():
        return letter
    if letter.isdigit():
        return str(unicodedata.digit(letter))
    return " " if letter in "\u2028\u2029\x85" else letter


class SqueezedText:
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

    def find_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the text of the squeezed characters ``start`` to ``end``."""
        return self._find_place(start), self._find_place(end - 1) + 1

    def _find_place(self, offset: int) -> int:
        run = bisect_right(self.starts, offset) - 1
        return self._run_starts[run] + offset - self.starts[run]

    @cached_property
    def _run_starts(self) -> list[int]:
        """The start of each run in the text, computed only if a value was found."""
        return [match.start() for match in _RUN.finditer(self._text)]
