"""Masks: values that a server made unreadable, and the share of them that is readable all the same.

The share of a value that a mask leaves readable: ``ines.okafor@example.c**`` hides very little.

Characters are readable if the mask shows them in their place and order. Of an e-mail address with a
readable domain only the part before the ``@`` counts, since a domain identifies no person.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from harness.judging.secrecy.values import SqueezedText, normalise_text

MOST_READABLE = 0.25
"""Default share that a mask may leave readable."""
_LAST = 4
"""Number of last digits of a long number that may be readable, as on a receipt."""
# Of a shorter number, four digits would be more than half.
_LONG = 8
_FIXED_LENGTH = 8
"""Assumed number of characters that ``***`` hides, since it may replace a value of any length."""
_MASK = re.compile(r"[*•█#_…]+|\.{3,}|x{3,}", re.IGNORECASE)
_COVERS = frozenset("*•█#_?·-xX")
"""Characters that may replace single characters of a value."""
_CUT = re.compile(r"\s*(?:…|\.{3,})$")
_SHORTEST = 4
"""Minimum length of a readable prefix of a value that is recognised."""
# Words that data may rightly have, and words that only masks have.
_ORDINARY = r"removed|restricted|confidential|denied|none|null|n/a"
_CHOSEN = r"masked|redacted|hidden|withheld|filtered"
_NO_VALUE = re.compile(rf"\W*(?:{_CHOSEN}|{_ORDINARY})\W*", re.IGNORECASE)


def readable_share(mask: Any, value: Any = None) -> float:
    """Return the share of ``value`` that ``mask`` leaves readable, from 0 to 1.

    Without the value it is estimated from the mask: readable characters by all characters.
    """
    shown = normalise_text(str(mask)).strip()
    if mask is None or not shown or _NO_VALUE.fullmatch(shown):
        return 0.0
    if value is None:
        return _estimate_share(shown)
    true = normalise_text(str(value)).strip()
    local, at, domain = true.partition("@")
    hidden_local, hidden_at, _ = shown.partition("@")
    if at and domain and "@" not in domain:
        true, shown = local, hidden_local if hidden_at else shown
    letters = _squeeze_text(true)
    # A mask of the same length shows each character in its place; of others only runs can be found.
    if covers_value(shown, true):
        kept = sum(one == other and one.isalnum() for one, other in zip(shown, true, strict=True))
    else:
        kept = _count_in_order(shown, letters)
    return kept / len(letters) if letters else 0.0


def is_unreadable(mask: Any, value: Any = None, most: float | None = None) -> bool:
    """Whether a mask leaves at most the share ``most`` readable.

    Without ``most`` it may be `MOST_READABLE`, or the last four of at least eight digits.
    """
    if readable_share(mask, value) <= (MOST_READABLE if most is None else most):
        return True
    return most is None and _is_end_of_a_number(mask, value)


def is_partly_covered(mask: Any, value: Any) -> bool:
    """Whether a text is ``value`` with single characters covered, or with its end cut off."""
    if not isinstance(mask, str) or not isinstance(value, str):
        return False
    shown, true = normalise_text(mask).strip(), normalise_text(value).strip()
    cut = _CUT.sub("", shown)
    if cut != shown:
        return len(cut) >= _SHORTEST and len(cut) < len(true) and true.startswith(cut)
    return covers_value(shown, true)


def covers_value(mask: str, value: str) -> bool:
    """Whether a mask is a value with single characters covered: ``4929 12?4 5678 9012``."""
    if len(mask) != len(value) or mask == value:
        return False
    # If all characters differ, nothing shows that it is this value that is covered.
    differing = [one for one, other in zip(mask, value, strict=True) if one != other]
    return len(differing) < len(value) and set(differing) <= _COVERS


def _is_end_of_a_number(mask: Any, value: Any) -> bool:
    shown = _squeeze_text(_MASK.sub("", normalise_text(str(mask))))
    if not shown.isdigit() or len(shown) > _LAST:
        return False
    if value is None:
        # So many hidden characters must show that the number is a long one.
        return sum(map(len, _MASK.findall(str(mask)))) >= _LAST
    true = _squeeze_text(normalise_text(str(value)))
    return true.isdigit() and len(true) >= _LONG and true.endswith(shown)


def _squeeze_text(text: str) -> str:
    return SqueezedText(text).squeezed


def _count_in_order(shown: str, letters: str) -> int:
    """Return how many of ``letters`` a mask shows in their order."""
    count = place = 0
    for part in filter(None, map(_squeeze_text, _MASK.split(shown))):
        # After the run before it, so that no letter counts twice.
        found = letters.find(part, place)
        if found >= 0:
            count, place = count + len(part), found + len(part)
    return count


def _estimate_share(shown: str) -> float:
    local, at, _ = shown.partition("@")
    if at and local:
        if _MASK.search(local) is None:
            return 1.0  # nothing before the `@` is hidden, and the rest identifies nobody
        shown = local
    # Other words beside the mask hide nothing, so they are no part of the value.
    words = [word for word in shown.split() if _MASK.search(word) or word.strip("+()-.").isdigit()]
    runs = [run for word in words for run in _MASK.findall(word)]
    hidden = sum(_FIXED_LENGTH if len(run) == len("***") else len(run) for run in runs)
    left = sum(len(_squeeze_text(_MASK.sub("", word))) for word in words)
    return left / (left + hidden) if left else 0.0


_PLACEHOLDER = re.compile(rf"\W*(?:{_CHOSEN}|x{{3,}}|{_ORDINARY})\W*", re.IGNORECASE)
_CHOSEN_LINE = re.compile(rf"\W*(?:{_CHOSEN}|x{{3,}})\W*", re.IGNORECASE)
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
    """Return whether it is a word in place of a value, or every line of it is unreadable."""
    lines = [line for line in text.splitlines() if line.strip()]
    return _PLACEHOLDER.fullmatch(text) is not None or (
        bool(lines) and all(_CHOSEN_LINE.fullmatch(line) or _hides_letters(line) for line in lines)
    )


# A server's values repeat often, and each is compared with all others.
_word_is_masked = lru_cache(maxsize=4096)(_text_is_masked)


def _hides_letters(line: str) -> bool:
    """Return whether ``***`` or the like replaces letters, other than as Markdown.

    Any explanation may follow the mask.
    """
    plain = _BOLD.sub(r"\2", _HEADING.sub("", line))
    is_alone = _RUN_ALONE.match(plain) is not None
    return is_alone or (_RUN.search(plain) is not None and len(_RUN.sub("", plain)) <= _SHORT)


def may_be_meant(mask: Any) -> bool:
    """Return whether real data may contain this apparent mask: a blank, or ``restricted``."""
    if mask is None or mask == "":
        return True
    return isinstance(mask, str) and re.fullmatch(_ORDINARY, mask, re.IGNORECASE) is not None
