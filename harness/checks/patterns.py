"""Regular expressions from suites, matched in linear time: no pattern can hang a run.

RE2's syntax is Perl's without look-around and back-references, which is what makes the promise possible.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

from harness.checks import Path
from harness.checks.texts import clean
from harness.errors import InvalidValue

_MAX_MEMORY = 1 << 20  # bytes of a compiled pattern: the worst of that size takes 2 s on 100 kB of text
_ADVICE = {
    "(?<=": "Look-behind cannot be matched in bounded time; match what comes before as part of the pattern.",
    "(?<!": "Look-behind cannot be matched in bounded time; use two checks instead.",
    "(?=": "Look-ahead cannot be matched in bounded time; use two checks instead.",
    "(?!": "Look-ahead cannot be matched in bounded time; use two checks instead.",
    "too large": "Use smaller counts in {…}.",
    "escape": r"Write \z for the end of the text; back-references such as \1 are not supported.",
}


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # it would write to stderr on its own
    options.max_mem = _MAX_MEMORY
    return re2.compile(pattern, options)


def check_pattern(pattern: str, path: Path = ()) -> None:
    """Make sure that ``pattern`` can be searched for.

    Raises:
        InvalidValue: it cannot; says why.
    """
    try:
        _compiled(pattern)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        said = clean(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason))
        advice = next((advice for sign, advice in _ADVICE.items() if sign in said), None)
        raise InvalidValue(f"this regular expression does not work: {said}", path=path, meant=advice) from error


def search(pattern: str, text: str) -> tuple[int, int] | None:
    """Return where ``pattern`` first matches in ``text``, as (start, end), if it does."""
    found = _compiled(pattern).search(text.encode("utf-8", "replace").decode("utf-8"))
    return None if found is None else found.span()
