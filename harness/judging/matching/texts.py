"""Text comparison as people do it: folding, finding, the nearest passage, printable excerpts.

Two texts are compared after *folding*: Unicode NFKC, no distinction of case (nor of the Turkish
``İ`` and ``ı``), one space for any run of white space, straight quotes and plain hyphens for
typographic ones, and hidden characters removed. A text is searched as it is written and as a reader
sees it (`harness.base.rendered_text`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from harness.base import KNOWN, escaped, readings, render, shorten, without_hidden

_TYPOGRAPHY = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ′‹›", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {"İ": "I", "ı": "i", "\u2800": " "}
    # lines through, over and under a letter: they compose to no letter of their own
    | dict.fromkeys("\u0305\u0332\u0333\u0334\u0335\u0336\u0337\u0338", None)
)
_DOT_ABOVE = re.compile("(?<=[iI])\u0307")
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_WORDS = re.compile(r"\S+")
_SPACE = re.compile(r"\s+")
_WORD_OR_SPACE = re.compile(r"(?P<space>\s+)|\S+")
_NEAR_ENOUGH = 0.5  # share of common letter pairs above which a passage is similar enough to show
_SEARCHED = 20_000  # characters of the text that is searched for a nearest passage
_COMPARED = 30  # words of the text whose nearest passage is searched for


def clean(text: str) -> str:
    r"""Return ``text`` without line breaks, and with hidden characters as escapes (``\x1b``)."""
    return escaped(_BREAKS.sub(" ", text))


def clip(text: str, width: int) -> str:
    """Return ``text``, shortened by `shorten` if it has more than ``width`` characters."""
    return text if len(text) <= width else shorten(text, width)


def line(text: str, width: int = 160) -> str:
    """Return ``text`` as one printable line of at most ``width`` characters."""
    return clip(clean(" ".join(text[: width * 8].split())), width)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a text, with the text around it."""

    found: str
    """The passage itself, as the text has it."""
    context: str
    """One printable line of the text around it."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A text, its folded form, and the offsets that lead back."""

    shown: str
    """The text, normalised but readable."""
    folded: str
    """The folded text, which is compared."""
    offsets: tuple[int, ...]
    """For each character of `folded`, its index in `shown`; one more for the end."""

    def find(self, folded: str) -> Passage | None:
        """Return the first occurrence of the already folded text, if there is one."""
        start = self.folded.find(folded)
        return None if start < 0 else self.passage(start, start + len(folded))

    def passage(self, start: int, end: int, around: int = 50) -> Passage:
        """Return the text between two offsets of `folded`, with ``around`` characters beside it."""
        first, last = self.offsets[start], max(self.offsets[end - 1] + 1, self.offsets[start] + 1)
        left, right = max(0, first - around), min(len(self.shown), last + around)
        if (
            KNOWN.text(self.shown) is not self.shown
        ):  # a secret that is cut in two would no longer be recognised
            left, right = _at_word(self.shown, left, -1), _at_word(self.shown, right, 1)
        before, after = "…" if left else "", "…" if right < len(self.shown) else ""
        context = before + " ".join(clean(KNOWN.text(self.shown[left:right])).split()) + after
        return Passage(
            found=line(self.shown[first:last]), context=shorten(context, 2 * around + 160)
        )


def _at_word(text: str, place: int, step: int) -> int:
    """Return the next offset from ``place`` in the direction of ``step`` that cuts no word."""
    while 0 < place < len(text) and not (text[place - 1].isspace() or text[place].isspace()):
        place += step
    return place


def folding(text: str) -> Folded:
    """Fold ``text``, keeping offsets."""
    shown = _normal(text)
    parts: list[str] = []
    offsets: list[int] = []
    for match in _WORD_OR_SPACE.finditer(shown):
        start, end = match.span()
        small = " " if match["space"] else match[0].casefold()
        parts.append(small)
        if match["space"]:
            offsets.append(start)
        elif len(small) == end - start:
            offsets.extend(range(start, end))
        else:  # a letter such as ß becomes two
            offsets.extend(place for place in range(start, end) for _ in shown[place].casefold())
    return Folded(shown=shown, folded="".join(parts), offsets=(*offsets, len(shown)))


def _normal(text: str) -> str:
    shown = without_hidden(text)
    if not shown.isascii():
        # NFKC makes a space with an accent of the accent that some write as an apostrophe
        shown = unicodedata.normalize("NFKC", shown.replace("´", "'")).translate(_TYPOGRAPHY)
        shown = _DOT_ABOVE.sub("", shown)
    return shown


def _folded(text: str) -> str:
    """Return the folded text of `folding` without offsets: many times faster."""
    return _SPACE.sub(" ", _normal(text)).casefold()


def fold(text: str) -> str:
    """Return ``text`` folded, without white space around it."""
    return _folded(text).strip()


def find(wanted: str, text: str) -> Passage | None:
    """Return the passage of ``text`` that equals ``wanted`` once both are folded, if any.

    It is searched in each reading of ``text``. Spaces around ``wanted`` count, and the ends of
    ``text`` count as spaces: ``" no "`` finds only the word *no*.
    """
    needle, reading = _search(wanted, text)
    return None if reading is None else folding(reading).find(needle)


def contains(wanted: str, text: str) -> bool:
    """Whether `find` would find ``wanted``; much faster in a long text."""
    return _search(wanted, text)[1] is not None


def equals(wanted: str, text: str) -> bool:
    """Whether a reading of ``text`` is ``wanted``, once both are folded, and nothing else."""
    return fold(wanted) in map(fold, readings(text))


def plain_readings(text: str) -> tuple[str, ...]:
    """Return ``text`` as it is written and, if they differ, as it is read, with plain letters."""
    return tuple(dict.fromkeys((text, *map(_normal, readings(text)))))


def folded_as_read(text: str) -> Folded:
    """Fold ``text`` as a reader sees it, keeping offsets."""
    return folding(render(text))


def _search(wanted: str, text: str) -> tuple[str, str | None]:
    """Return the folded ``wanted``, and the first reading of ``text`` that contains it."""
    needle = _folded(wanted.strip("\r\n"))
    return needle, next(
        (hay for reading in readings(text) if needle in _folded(hay := f" {reading} ")), None
    )


def nearest(wanted: str, text: str) -> Passage | None:
    """Return the passage of ``text`` most similar to ``wanted``, if it is worth showing."""
    needle, hay = fold(wanted).split()[:_COMPARED], folding(text[:_SEARCHED])
    words = list(_WORDS.finditer(hay.folded))
    size = max(1, len(needle))
    goal = _pairs(" ".join(needle))
    best, where = _NEAR_ENOUGH, None
    for first in range(max(1, len(words) - size + 1) if words else 0):
        start, end = words[first].start(), words[min(first + size, len(words)) - 1].end()
        score = _likeness(goal, _pairs(hay.folded[start:end]))
        if score > best:
            best, where = score, (start, end)
    return None if where is None else hay.passage(*where)


def likeness(left: str, right: str) -> float:
    """Return the similarity of two texts, from 0 to 1, by the letter pairs that they share."""
    return _likeness(_pairs(fold(left)), _pairs(fold(right)))


def _pairs(text: str) -> Counter[str]:
    return Counter(text[place : place + 2] for place in range(max(1, len(text) - 1)))


def _likeness(left: Counter[str], right: Counter[str]) -> float:
    return 2 * (left & right).total() / (left.total() + right.total())
