"""What Python says of an error, in the words of 3.11 and 3.12 on every version.

A tool's refusal is part of what a model is tested with, so it must not depend on the Python that
runs the server.
"""

from __future__ import annotations

import re

_SUGGESTED = re.compile(r"(.* got an unexpected keyword argument '.*')\. Did you mean '.*'\?")
"""Since 3.13."""
_EXPLAINED = re.compile(r"cannot use '.*' as a (?:dict key|set element) \((unhashable type: .*)\)")
"""Since 3.14."""


def words_of(error: Exception) -> str:
    """Return the message of ``error`` without what newer versions of Python add."""
    said = str(error)
    if isinstance(error, TypeError):
        for added in (_SUGGESTED, _EXPLAINED):
            if found := added.fullmatch(said):
                return found[1]
    return said
