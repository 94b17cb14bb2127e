"""Results that are too long for a model: cut, with a note that says so."""

from __future__ import annotations

import re

from harness.models.tool_text.terms import estimate_tokens, take_beginning

_CUT = re.compile(
    r"\[The result was cut here: it takes about [\d,]+ tokens, and [\d,]+ are shown\.\]\Z"
)


def cut_result(text: str, most: int) -> str:
    """Return ``text``, cut after ``most`` tokens and with a note if it is longer."""
    if (size := estimate_tokens(text)) <= most:
        return text
    note = f"[The result was cut here: it takes about {size:,} tokens, and {most:,} are shown.]"
    return f"{take_beginning(text, most)}\n{note}"


def cut_note(text: str) -> str:
    """Return the note at the end of a result that `cut_result` has cut; empty if it was not cut."""
    # At its end alone: a server may quote the note in a result of its own.
    found = _CUT.search(text)
    return "" if found is None else found[0]
