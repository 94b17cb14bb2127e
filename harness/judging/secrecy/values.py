"""Grade values by how well they can be recognised: anywhere, or only in their context.

| strength     | what                                                  | recognised                |
|--------------|-------------------------------------------------------|---------------------------|
| unmistakable | e-mail addresses, 9 digits and more (cards, accounts, | under any name            |
|              | telephones), texts of 5 words and more, long keys     |                           |
| reference    | the same in a field that names a record, ``order_id`` | where no field shows them |
| telling      | names, ids, numbers of 5 digits and more              | in the very call          |
| none         | true, small numbers, years, dates, single words       | never by this search      |
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.judging.secrecy.normalisation import SqueezedText, normalise_text

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
