"""Text comparison as people do it: folding, finding, the nearest passage, printable excerpts.

Two texts are compared after *folding*: Unicode NFKC, no distinction of case (nor of the Turkish
``İ`` and ``ı``), one space for any run of white space, straight quotes and plain hyphens for
typographic ones, and hidden characters removed. A text is searched as it is written and as a reader
sees it (`harness.base.safe_text`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from harness.base import (
    KNOWN,
    BrokenPattern,
    InvalidValue,
    escape_hidden,
    list_readings,
    render_text,
    search_pattern,
    shorten_text,
    without_hidden,
)
from harness.types import JsonPath, dataclass

_TYPOGRAPHY = str.maketrans(
    dict.fromkeys("‘’‚‛ʼ′‹›", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {"İ": "I", "ı": "i", "\u2800": " "}
    # lines through, over and under a letter: they compose to no letter of their own
    | dict.fromkeys("\u0305\u0332\u0333\u0334\u0335\u0336\u0337\u0338", None)
)
# Many programs make of `İ` an i and a combining dot when they put it into small letters.
_DOT_ABOVE = re.compile("(?<=[iI])\u0307")
_BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_WORDS = re.compile(r"\S+")
_SPACE = re.compile(r"\s+")
_WORD_OR_SPACE = re.compile(r"(?P<space>\s+)|\S+")
_NEAR_ENOUGH = 0.5  # share of common letter pairs above which a passage is similar enough to show
_SEARCHED = 20_000  # characters of the text that is searched for a nearest passage
_COMPARED = 30  # words of the text whose nearest passage is searched for


def clean_text(text: str) -> str:
    r"""Return ``text`` without line breaks, and with hidden characters as escapes (``\x1b``)."""
    return escape_hidden(_BREAKS.sub(" ", text))


def clip_text(text: str, width: int) -> str:
    """Return ``text``, shortened by `shorten_text` if it has more than ``width`` characters."""
    return text if len(text) <= width else shorten_text(text, width)


def format_line(text: str, width: int = 160) -> str:
    """Return ``text`` as one printable line of at most ``width`` characters."""
    # Of a long text only as much is cleaned as may be shown, and a margin for white space.
    return clip_text(clean_text(" ".join(text[: width * 8].split())), width)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a text, with the text around it."""

    found: str
    """The passage itself, as the text has it."""
    context: str
    """One printable line of the text around it."""


@dataclass(frozen=True, slots=True)
class FoldedText:
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
        return None if start < 0 else self.get_passage(start, start + len(folded))

    def get_passage(self, start: int, end: int, around: int = 50) -> Passage:
        """Return the text between two offsets of `folded`, with ``around`` characters beside it."""
        shown = self.shown
        first, last = self.offsets[start], max(self.offsets[end - 1] + 1, self.offsets[start] + 1)
        left, right = max(0, first - around), min(len(shown), last + around)
        # A secret that is cut in two would no longer be recognised.
        if KNOWN.redact_text(shown) is not shown:
            left, right = _next_word_edge(shown, left, -1), _next_word_edge(shown, right, 1)
        before, after = "…" if left else "", "…" if right < len(shown) else ""
        words = " ".join(clean_text(KNOWN.redact_text(shown[left:right])).split())
        return Passage(
            found=format_line(shown[first:last]),
            context=shorten_text(before + words + after, 2 * around + 160),
        )


def _next_word_edge(text: str, place: int, step: int) -> int:
    """Return the next offset from ``place`` in the direction of ``step`` that cuts no word."""
    while 0 < place < len(text) and not (text[place - 1].isspace() or text[place].isspace()):
        place += step
    return place


def fold_with_offsets(text: str) -> FoldedText:
    """Fold ``text``, keeping offsets."""
    shown = _normalise_text(text)
    parts: list[str] = []
    offsets: list[int] = []
    for match in _WORD_OR_SPACE.finditer(shown):
        start, end = match.span()
        parts.append(" " if match["space"] else match[0].casefold())
        if match["space"]:
            offsets.append(start)
        # Whole words at once: only a word whose length changes needs a look at each letter.
        elif len(parts[-1]) == end - start:
            offsets.extend(range(start, end))
        else:  # a letter such as ß becomes two
            offsets.extend(place for place in range(start, end) for _ in shown[place].casefold())
    return FoldedText(shown=shown, folded="".join(parts), offsets=(*offsets, len(shown)))


def _normalise_text(text: str) -> str:
    shown = without_hidden(text)
    # ASCII has nothing to compose and no typography.
    if not shown.isascii():
        # NFKC makes a space with an accent of the accent that some write as an apostrophe
        shown = unicodedata.normalize("NFKC", shown.replace("´", "'")).translate(_TYPOGRAPHY)
        shown = _DOT_ABOVE.sub("", shown)
    return shown


def _fold_quickly(text: str) -> str:
    """Return the folded text of `fold_with_offsets` without offsets: many times faster."""
    return _SPACE.sub(" ", _normalise_text(text)).casefold()


def fold_text(text: str) -> str:
    """Return ``text`` folded, without white space around it."""
    return _fold_quickly(text).strip()


def find_passage(wanted: str, text: str) -> Passage | None:
    """Return the passage of ``text`` that equals ``wanted`` once both are folded, if any.

    It is searched in each reading of ``text``. Spaces around ``wanted`` count, and the ends of
    ``text`` count as spaces: ``" no "`` finds only the word *no*.
    """
    needle, reading = _search_readings(wanted, text)
    return None if reading is None else fold_with_offsets(reading).find(needle)


def contains_text(wanted: str, text: str) -> bool:
    """Whether `find_passage` would find ``wanted``; much faster in a long text."""
    return _search_readings(wanted, text)[1] is not None


def equals_text(wanted: str, text: str) -> bool:
    """Whether a reading of ``text`` is ``wanted``, once both are folded, and nothing else."""
    return fold_text(wanted) in map(fold_text, list_readings(text))


def plain_readings(text: str) -> tuple[str, ...]:
    """Return ``text`` as it is written and, if they differ, as it is read, with plain letters."""
    return tuple(dict.fromkeys((text, *map(_normalise_text, list_readings(text)))))


def fold_as_read(text: str) -> FoldedText:
    """Fold ``text`` as a reader sees it, keeping offsets."""
    return fold_with_offsets(render_text(text))


def _search_readings(wanted: str, text: str) -> tuple[str, str | None]:
    """Return the folded ``wanted``, and the first reading of ``text`` that contains it."""
    needle = _fold_quickly(wanted.strip("\r\n"))
    return needle, next(
        (hay for reading in list_readings(text) if needle in _fold_quickly(hay := f" {reading} ")),
        None,
    )


def find_nearest(wanted: str, text: str) -> Passage | None:
    """Return the passage of ``text`` most similar to ``wanted``, if it is worth showing."""
    needle, hay = fold_text(wanted).split()[:_COMPARED], fold_with_offsets(text[:_SEARCHED])
    words = list(_WORDS.finditer(hay.folded))
    size = max(1, len(needle))
    goal = _count_letter_pairs(" ".join(needle))
    best, where = _NEAR_ENOUGH, None
    for first in range(max(1, len(words) - size + 1) if words else 0):
        start, end = words[first].start(), words[min(first + size, len(words)) - 1].end()
        score = _compare_letter_pairs(goal, _count_letter_pairs(hay.folded[start:end]))
        if score > best:
            best, where = score, (start, end)
    return None if where is None else hay.get_passage(*where)


def measure_likeness(left: str, right: str) -> float:
    """Return the similarity of two texts, from 0 to 1, by the letter pairs that they share."""
    return _compare_letter_pairs(
        _count_letter_pairs(fold_text(left)), _count_letter_pairs(fold_text(right))
    )


def _count_letter_pairs(text: str) -> Counter[str]:
    return Counter(text[place : place + 2] for place in range(max(1, len(text) - 1)))


def _compare_letter_pairs(left: Counter[str], right: Counter[str]) -> float:
    # Dice's coefficient.
    return 2 * (left & right).total() / (left.total() + right.total())


# RE2 has no look-around and no back-references: no pattern can hang a run by them.
_ADVICE = {
    "(?<=": (
        "Look-behind cannot be matched in bounded time; match what comes before as part of the "
        "pattern."
    ),
    "(?<!": "Look-behind cannot be matched in bounded time; use two checks instead.",
    "(?=": "Look-ahead cannot be matched in bounded time; use two checks instead.",
    "(?!": "Look-ahead cannot be matched in bounded time; use two checks instead.",
    "too large": "Use smaller counts in {…}.",
    "escape": r"Write \z for the end of the text; back-references such as \1 are not supported.",
}

_ANCHOR = re.compile(r"[\^$]|\\[AbBzZ]")


def check_pattern(pattern: str, path: JsonPath = ()) -> None:
    """Make sure that ``pattern`` compiles, so that texts can be searched in linear time.

    Raises:
        InvalidValue: it cannot; says why.
    """
    try:
        search_pattern(pattern, "")
    except BrokenPattern as error:
        said = clean_text(str(error))
        advice = next((advice for sign, advice in _ADVICE.items() if sign in said), None)
        raise InvalidValue(
            f"this regular expression does not work: {said}", path=path, meant=advice
        ) from error


def is_in_every_text(pattern: str) -> bool:
    """Whether it is certain that the valid ``pattern`` is found in every text."""
    # Without an anchor, what matches the empty text is found anywhere; with one at its beginning
    # or end, it is found there.
    bare = (pattern.removeprefix("^"), re.sub(r"(?<!\\)\$$", "", pattern))
    return any(not _ANCHOR.search(each) and search_pattern(each, "") is not None for each in bare)
