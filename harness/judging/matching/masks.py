"""Recognises values that a server has masked."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

# Words that data may rightly have, and words that only masks have.
_ORDINARY = r"removed|restricted|confidential|denied|none|null|n/a"
_CHOSEN = r"masked|redacted|hidden|withheld|filtered|x{3,}"
_PLACEHOLDER = re.compile(rf"\W*(?:{_CHOSEN}|{_ORDINARY})\W*", re.IGNORECASE)
_CHOSEN_LINE = re.compile(rf"\W*(?:{_CHOSEN})\W*", re.IGNORECASE)
_RUN = re.compile(r"\*{2,}|•{2,}|█|x{4,}|#{3,}", re.IGNORECASE)
# Atomic: of `***a`, two stars alone would match otherwise, since no letter follows them.
_RUN_ALONE = re.compile(rf"\s*(?>{_RUN.pattern})(?!\w)", re.IGNORECASE)
_HEADING = re.compile(r"^\s*#{1,6}\s+(?=.*[^\W\d_])")
_BOLD = re.compile(r"(?<![\w*])(\*{2,3})(?=\w)(?=[^*]*[^\W\d_]|\d+[.,']\d)([^*]*[^\s*])\1(?![\w*])")
"""Bold text of Markdown. Digits alone are the rest of a masked number: ``#### 1234``,
``**1234**``."""
_REMEMBERED = 200
"""Longest value, in characters, whose verdict is cached."""
_SHORT = 64
"""Most readable characters of a line that counts as partly masked, such as an address; a longer
line is prose."""


def is_masked(scalar: Any) -> bool:
    """Return whether a value is a mask: it replaces a value that the caller must not read."""
    if scalar is None or scalar == "":
        return True
    if not isinstance(scalar, str):
        return False
    return _word_is_masked(scalar) if len(scalar) <= _REMEMBERED else _text_is_masked(scalar)


def _text_is_masked(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text) is not None or _is_overwritten(text)


@lru_cache(maxsize=4096)  # a server's values repeat often, and each is compared with all others
def _word_is_masked(text: str) -> bool:
    return _text_is_masked(text)


def _is_overwritten(text: str) -> bool:
    """Return whether every line with content is made unreadable."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(
        _CHOSEN_LINE.fullmatch(line) or _hides_letters(line) for line in lines
    )


def _hides_letters(line: str) -> bool:
    """Return whether ``***`` or the like replaces letters, other than as Markdown.

    Any explanation may follow the mask.
    """
    plain = _BOLD.sub(r"\2", _HEADING.sub("", line))
    if _RUN.search(plain) is None:
        return False
    return _RUN_ALONE.match(plain) is not None or len(_RUN.sub("", plain)) <= _SHORT


def may_be_meant(mask: Any) -> bool:
    """Return whether real data may contain this apparent mask: a blank, or ``restricted``."""
    if mask is None or mask == "":
        return True
    return isinstance(mask, str) and re.fullmatch(_ORDINARY, mask, re.IGNORECASE) is not None
