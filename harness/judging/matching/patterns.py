"""Regular expressions from suites: invalid ones are refused, with advice on what to write."""

from __future__ import annotations

import re

from harness.base import BrokenPattern, InvalidValue, search_pattern
from harness.judging.matching.texts import clean_text
from harness.types import JsonPath

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
