"""Grade values by how well they can be recognised: anywhere, or only in their context.

| strength     | what                                                  | recognised                |
|--------------|-------------------------------------------------------|---------------------------|
| unmistakable | e-mail addresses, 9 digits and more (cards, accounts, | under any name            |
|              | telephones), texts of 5 words and more, long keys     |                           |
| reference    | the same in a field that names a record, ``order_id`` | where no field shows them |
| telling      | names, ids, numbers of 5 digits and more              | in the very call          |
| none         | true, small numbers, years, dates, single words       | never by this search      |

Values and texts are compared in one form. First a text is normalised (`normalise_text`): Unicode
NFKC, lower case, no accents, no invisible characters, Latin letters instead of Cyrillic and Greek
lookalikes, ASCII digits instead of others. Then it is squeezed (`SqueezedText`) to its letters and
digits, with the positions of each run of letters or digits in the normalised text.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.base import LOOKALIKES, without_hidden

_ACCENTS = re.compile("[\u0300-\u036f]")
_RUN = re.compile(r"[^\W\d_]+|\d+")


def normalise_text(text: str) -> str:
    """Return ``text`` normalised line by line."""
    # Line by line, so that the numbers of lines stay, and lines in ASCII take hardly any time.
    return text.lower() if text.isascii() else "\n".join(map(_normalise_line, text.split("\n")))


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

    def is_alone(self, start: int, end: int, begin: int, stop: int) -> bool:
        """Whether ``begin`` to ``stop`` of the text has no more than these squeezed characters.

        ``start`` begins a run of letters or digits, and ``end`` ends one.
        """
        first, behind = bisect_left(self.starts, start), bisect_left(self.starts, end)
        runs = self._run_starts
        return (first == 0 or runs[first - 1] < begin) and (
            behind == len(runs) or runs[behind] >= stop
        )

    def _find_place(self, offset: int) -> int:
        run = bisect_right(self.starts, offset) - 1
        return self._run_starts[run] + offset - self.starts[run]

    @cached_property
    def _run_starts(self) -> list[int]:
        """The start of each run in the text, computed only if a value was found."""
        return [match.start() for match in _RUN.finditer(self._text)]


Strength: TypeAlias = Literal["unmistakable", "reference", "telling"]
"""How improbable an accidental match of a value is, by the table above."""
Kind: TypeAlias = Literal["email", "digits", "text", "key"]
"""The composition of a value, which decides what may separate its letters and digits."""

_EMAIL = re.compile(r"[^@\s<>,;:\"']+@[^@\s<>,;:\"']+\.[^\W\d_]{2,}")
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:[ t]\d\d:\d\d.*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_BARE = re.compile(r"[\d\s().+/-]+")
_NAMES_A_RECORD = re.compile(
    r"(?i:(?:^|[_.\- ])(?:id|ids|uuid|guid|key|ref|reference|code|number|no|sku|slug|url|uri)$)"
    r"|[a-z](?:Id|Ids|Key|Ref|Code|Number)$"
)
# The bounds of the table above: whatever is shorter, several people may have by chance.
_MANY_DIGITS = 9
_LONG_KEY = 16
_KEY_DIGITS = 4
_WORDS = 5
_LONG_TEXT = 24
# The index (`search`) and the decoders rely on it: they leave out whatever is shorter.
_SHORTEST = 5
_TIMES = ((1_000_000_000, 2_200_000_000), (1_000_000_000_000, 2_200_000_000_000))
"""Seconds and milliseconds since 1970, from 2001 to 2039."""
_LONGEST = 4_000
"""Maximum number of characters of a value that are compared."""


class SearchForm(NamedTuple):
    """A value prepared for the search."""

    text: str
    """The normalised text."""
    squeezed: str
    """Only its letters and digits."""
    strength: Strength
    """How improbable an accidental match is."""
    kind: Kind
    """Its composition."""


def build_search_form(scalar: Any, name: str = "") -> SearchForm | None:
    """Return the JSON scalar of the field ``name`` prepared for the search.

    ``None`` if the value is too common to be recognised.
    """
    if scalar is None or isinstance(scalar, bool | dict | list):
        return None
    found = _build_form(str(scalar)[:_LONGEST], isinstance(scalar, str))
    if found is None or found.strength != "unmistakable" or found.kind in ("email", "text"):
        return found
    # Other results rightly refer to a record by its id. An address or a long text is no id.
    return found._replace(strength="reference") if _NAMES_A_RECORD.search(name) else found


# Cached, since the same values are withheld from several identities.
@lru_cache(maxsize=50_000)
def _build_form(text: str, is_text: bool) -> SearchForm | None:  # noqa: FBT001 - one of two ways
    plain = " ".join(normalise_text(text).split())
    squeezed = SqueezedText(plain).squeezed
    if len(squeezed) < _SHORTEST or _DATE.fullmatch(plain):
        return None
    kind, strength = _grade_text(plain, squeezed) if is_text else _grade_number(plain, squeezed)
    return SearchForm(plain, squeezed, strength, kind)


def _grade_number(plain: str, squeezed: str) -> tuple[Kind, Strength]:
    whole = plain.lstrip("-").isdigit()
    is_time = whole and any(low <= int(squeezed) <= high for low, high in _TIMES)
    # Round numbers and times since 1970 are met by chance, however many digits they have.
    many = whole and len(squeezed.rstrip("0")) >= _MANY_DIGITS and not is_time
    return "digits", "unmistakable" if many else "telling"


def _grade_text(plain: str, squeezed: str) -> tuple[Kind, Strength]:
    if _EMAIL.fullmatch(plain):
        return "email", "unmistakable"
    if _BARE.fullmatch(plain):
        many = len(squeezed) >= _MANY_DIGITS and len(set(squeezed)) > 2  # noqa: PLR2004 - no 000-00
        return "digits", "unmistakable" if many else "telling"
    words = plain.split()
    if len(words) >= _WORDS and len(plain) >= _LONG_TEXT:
        return "text", "unmistakable"
    digits = sum(map(str.isdigit, squeezed))
    long_key = len(words) == 1 and len(squeezed) >= _LONG_KEY and digits >= _KEY_DIGITS
    return ("key", "unmistakable") if long_key else ("text", "telling")


ALGORITHMS: Mapping[str, str] = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256"}
"""Name → name in `hashlib`."""


def iterate_digests(value: object) -> Iterator[tuple[str, SearchForm]]:
    """Yield the name of each algorithm, and the hexadecimal digest of ``value`` to search for."""
    text = str(value).strip()
    # Addresses are usually put into small letters before they are hashed.
    for plain in dict.fromkeys((text, text.lower())):
        for name, algorithm in ALGORITHMS.items():
            made = hashlib.new(algorithm, plain.encode(), usedforsecurity=False).hexdigest()
            yield name, SearchForm(made, made, "unmistakable", "key")
