"""Regular expressions that others wrote, matched in linear time: no pattern can hang a run.

RE2's syntax is Perl's without look-around and back-references, which makes linear time possible.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

_MAX_MEMORY = (
    1 << 20
)  # bytes of a compiled pattern: the worst of that size takes 2 s on 100 kB of text


class BrokenPattern(ValueError):
    """A pattern that RE2 does not accept; the text is RE2's reason."""


@lru_cache(maxsize=512)
def _compile_pattern(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # it would write to stderr on its own
    options.max_mem = _MAX_MEMORY
    return re2.compile(pattern, options)


def search_pattern(pattern: str, text: str) -> tuple[int, int] | None:
    """Return where ``pattern`` first matches in ``text``, as (start, end); ``None`` if nowhere.

    Raises:
        BrokenPattern: it is none that RE2 takes.
    """
    # RE2 works on UTF-8, which has no half of a surrogate pair.
    found = _parse_pattern(pattern).search(text.encode("utf-8", "replace").decode("utf-8"))
    return None if found is None else found.span()


def matches_whole(pattern: str, text: str) -> bool:
    """Return whether ``pattern`` matches ``text`` from its beginning to its end.

    Raises:
        BrokenPattern: it is none that RE2 takes.
    """
    return search_pattern(rf"\A(?:{pattern})\z", text) is not None


def program_size(pattern: str) -> int:
    """Return the number of instructions of ``pattern``: they bound a search's time per character.

    Raises:
        BrokenPattern: it is none that RE2 takes.
    """
    size: int = _parse_pattern(pattern).programsize
    return size


def _parse_pattern(pattern: str) -> Any:
    try:
        return _compile_pattern(pattern)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if isinstance(error, re2.error) and error.args else str(error)
        raise BrokenPattern(
            reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        ) from error
