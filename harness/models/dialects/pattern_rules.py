r"""What providers refuse in a ``pattern``, and a pattern in words.

Sources: errors of OpenAI's API (``regex lookaround is not supported``, ``is not a 'regex'``, which
is said of what Python's `re` cannot compile), and the sources of llama.cpp, which makes a grammar
of each pattern: an escape that the grammar does not know, such as ``\d``, is an error there.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TypeAlias

PatternRule: TypeAlias = tuple[str, Callable[[str], bool]]
"""What is refused of a pattern, in words, and whether a pattern has it."""

_SIGNS = re.compile(
    r"(?P<back_reference>\\[1-9]|\\k<|\(\?P=)"
    r"|(?P<look_around>\(\?<?[=!])"
    r"|(?P<count>\{\d*,?\d*\})"
    r"|(?P<escape>\\.)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^]\\])*\])",
    re.DOTALL,
)
"""The signs of a pattern: what stands in a set or behind a backslash is no other sign."""
_LOOK_AROUND_IN_WORDS = {
    "(?!": "(not before: ",
    "(?=": "(before: ",
    "(?<!": "(not after: ",
    "(?<=": "(after: ",
}
"""Look-around for a reader: models read words better, and some gateways refuse the signs in any
text of a request."""
# A longer one is sent unexamined: to compile it could hold up everything else.
_LONGEST_COMPILED = 10_000
_MANY = re.compile(r"0*(?:[2-9]\d{3}|[1-9]\d{4,})")
"""2,000 and more: as often llama.cpp refuses to repeat anything."""
_ESCAPES_OF_A_GRAMMAR = frozenset('\\"[]nrtxuU')
# Outside of a set, the signs of a regular expression may be escaped, too.
_ESCAPES_OF_A_PATTERN = _ESCAPES_OF_A_GRAMMAR | frozenset("^$.()|{}*+?")


def _contains_kind(kind: str) -> Callable[[str], bool]:
    return lambda pattern: any(sign.lastgroup == kind for sign in _SIGNS.finditer(pattern))


def _is_unknown_to_python(pattern: str) -> bool:
    if len(pattern) > _LONGEST_COMPILED:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nested sets, which compile
            re.compile(pattern)
    # Counts beyond 2**32 overflow, and deep brackets recurse, before `re` calls them an error.
    except (re.error, OverflowError, RecursionError):
        return True
    return False


def _is_open(pattern: str) -> bool:
    return not (pattern.startswith("^") and pattern.endswith("$"))


def _repeats_too_often(pattern: str) -> bool:
    counts = (sign[0] for sign in _SIGNS.finditer(pattern) if sign.lastgroup == "count")
    return any(_MANY.fullmatch(number) for count in counts for number in re.findall(r"\d+", count))


def _has_unknown_escape(pattern: str) -> bool:
    for sign in _SIGNS.finditer(pattern):
        if sign.lastgroup == "escape" and sign[0][1] not in _ESCAPES_OF_A_PATTERN:
            return True
        # `_SIGNS` takes a set as one sign: the escapes in it are read apart.
        escaped = re.findall(r"\\(.)", sign[0], re.DOTALL) if sign.lastgroup == "set" else []
        if not _ESCAPES_OF_A_GRAMMAR.issuperset(escaped):
            return True
    return False


BACKTRACKING: tuple[PatternRule, ...] = (
    ("with look-around", _contains_kind("look_around")),
    ("with back-reference", _contains_kind("back_reference")),
)
"""What a linear engine cannot match."""
NOT_PYTHON: tuple[PatternRule, ...] = (
    ("that Python cannot compile, such as \\p{L}", _is_unknown_to_python),
)
NO_GRAMMAR: tuple[PatternRule, ...] = (
    ("that does not begin with ^ and end with $", _is_open),
    ("with an escape such as \\d", _has_unknown_escape),
    ("with a count of 2,000 or more", _repeats_too_often),
)
"""What llama.cpp can make no grammar of."""


def describe_patterns(text: str) -> str:
    """Return a text with patterns for a reader."""
    return re.sub(r"(?<!\\)\(\?<?[=!]", lambda sign: _LOOK_AROUND_IN_WORDS[sign[0]], text)
