"""Equality of texts regardless of case, spaces and some punctuation."""

from __future__ import annotations

import re
from typing import Any

_PASSED_OVER = re.compile(r"[ ,./\-_*^]")
_PASSED_OVER_IN_ANSWERS = re.compile(r"[,./\-_*^()]")


def standardize_text(text: str) -> str:
    """Return ``text`` in the form in which arguments are compared.

    That is lower case, without spaces and ``,./-_*^``, and with ``"`` instead of ``'``.
    """
    return _PASSED_OVER.sub("", text).lower().replace("'", '"')


def standardize_answer(text: str) -> str:
    """Return ``text`` in the form in which answers are searched: with spaces, no parentheses."""
    return _PASSED_OVER_IN_ANSWERS.sub("", text).lower().replace("'", '"')


def standardize_value(value: Any) -> Any:
    """Return a text in standardized form, any other value unchanged."""
    return standardize_text(value) if isinstance(value, str) else value
