"""Text comparison as people do it: folding, finding, the nearest passage, printable excerpts.

Two texts are compared after *folding*: Unicode NFKC, no distinction of case, one space for any run
of white space, straight quotes and plain hyphens for typographic ones, and invisible characters
removed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from harness.invisible import escaped
from harness.redaction import KNOWN
from harness.safe_text import shorten

_TYPOGRAPHY = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ′", "'")
    | dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", None)
)
_EMPHASIS = re.compile(r"\*+|`+|__+|~~+")
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


def folding(text: str, *, emphasis: bool = True) -> Folded:
    """Fold ``text``, keeping offsets; without ``emphasis``, Markdown's emphasis is removed.

    That is ``**``, ``__`` and backticks.
    """
    shown = _normal(text, emphasis=emphasis)
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


def _normal(text: str, *, emphasis: bool) -> str:
    shown = text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY)
    return shown if emphasis else _EMPHASIS.sub("", shown)


def _folded(text: str, *, emphasis: bool = True) -> str:
    """Return the folded text of `folding` without offsets: many times faster."""
    return _SPACE.sub(" ", _normal(text, emphasis=emphasis)).casefold()


def fold(text: str) -> str:
    """Return ``text`` folded, without white space around it."""
    return _folded(text).strip()


def find(wanted: str, text: str) -> Passage | None:
    """Return the passage of ``text`` that equals ``wanted`` once both are folded, if any.

    Markdown's emphasis may be there or not. Spaces around ``wanted`` count, and the ends of
    ``text`` count as spaces: ``" no "`` finds only the word *no*.
    """
    needle, hay = _folded(wanted.strip("\r\n")), f" {text} "
    emphasis = _reading(needle, hay)
    return None if emphasis is None else folding(hay, emphasis=emphasis).find(needle)


def contains(wanted: str, text: str) -> bool:
    """Whether `find` would find ``wanted``; much faster in a long text."""
    return _reading(_folded(wanted.strip("\r\n")), f" {text} ") is not None


def _reading(needle: str, hay: str) -> bool | None:
    """Return the ``emphasis`` with which the folded ``hay`` contains ``needle``, if either does."""
    return next(
        (emphasis for emphasis in (True, False) if needle in _folded(hay, emphasis=emphasis)), None
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
