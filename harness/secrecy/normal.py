"""The form in which texts are compared: one spelling for every letter, and nothing in between.

A text is normalised first (`normalised`): Unicode NFKC, no case, no accents, no invisible
characters, Latin letters for Cyrillic and Greek ones that look alike, ASCII digits for all others.
Then it is squeezed (`Squeezed`): only its letters and digits are left, and it is known where each
run of letters or of digits begins and ends in the normalised text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from harness.invisible import HIDDEN

_LOOKALIKES = str.maketrans(
    "авеѕіјкмнорстухѵԁɡαβερνοτυχικω",
    "abesijkmhopctyxvdgabepvotyxikw",
)
_JOINERS = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\ufe0f\ufe0e"))
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Invisible tag characters → the ASCII characters that a machine reads in them."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_RUN = re.compile(r"[^\W\d_]+|\d+")


def normalised(text: str) -> str:
    """Return ``text`` in the spelling in which it is compared; lines stay lines."""
    if text.isascii():
        return text.lower()
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    if line.isascii():
        return line.lower()
    shown = unicodedata.normalize("NFKC", line.translate(_TAGS))
    plain = HIDDEN.sub("", shown).translate(_JOINERS)
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", plain))
    return "".join(map(_plain, plain.casefold().translate(_LOOKALIKES)))


def _plain(letter: str) -> str:
    """Return the ASCII form of a digit of any script, and anything else as it is, on one line."""
    if letter.isascii():
        return letter
    if letter.isdigit():
        return str(unicodedata.digit(letter))
    return " " if letter in "\u2028\u2029\x85" else letter


class Squeezed:
    """A normalised text without anything but its letters and digits."""

    def __init__(self, text: str) -> None:
        """Squeeze the normalised ``text``."""
        self._text = text
        runs = _RUN.findall(text)
        ends = list(accumulate(map(len, runs)))
        self.squeezed = "".join(runs)
        """Its letters and digits."""
        self.starts = [0, *ends[:-1]] if ends else []
        """Where each run of letters or digits begins in `squeezed`."""
        self.ends = frozenset(ends)
        """Where runs end in `squeezed`."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where the squeezed characters ``start`` to ``end`` stand in the text."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, offset: int) -> int:
        run = bisect_right(self.starts, offset) - 1
        return self._at[run] + offset - self.starts[run]

    @cached_property
    def _at(self) -> list[int]:
        """Where each run begins in the text: asked for only where something was found."""
        return [match.start() for match in _RUN.finditer(self._text)]
