"""Which texts are equal: case, spaces and some punctuation make no difference."""

from __future__ import annotations

import re
from typing import Any

_PASSED_OVER = re.compile(r"[ ,./\-_*^]")
_PASSED_OVER_IN_ANSWERS = re.compile(r"[,./\-_*^()]")


def standardized(text: str) -> str:
    """Return ``text`` as arguments are compared.

    In lower case, without spaces and ``,./-_*^``, with ``"`` for ``'``.
    """
    return _PASSED_OVER.sub("", text).lower().replace("'", '"')


def standardized_answer(text: str) -> str:
    """Return ``text`` as answers are searched: spaces stay, parentheses go as well."""
    return _PASSED_OVER_IN_ANSWERS.sub("", text).lower().replace("'", '"')


def loosely(value: Any) -> Any:
    """Return a text standardized, and anything else as it is."""
    return standardized(value) if isinstance(value, str) else value
