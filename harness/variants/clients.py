"""What clients do to a server: names of tools with a prefix, and results that are cut."""

from __future__ import annotations

import hashlib
import re

from harness.tool_text.tokens import beginning_of, tokens_in
from harness.types import Variant

LONGEST_NAME = 64
"""Characters of a tool's name that the APIs of models take."""

_CUT = re.compile(
    r"\[The result was cut here: it takes about [\d,]+ tokens, and [\d,]+ are shown\.\]\Z"
)
_NOT_TAKEN = re.compile(r"[^A-Za-z0-9_-]")


def client_name(prefix: str, name: str) -> str:
    """Return ``name`` with ``prefix``, as a client makes it for a model.

    A character that the APIs of models do not take becomes ``_``. Of a name above `LONGEST_NAME`
    the beginning is kept, and the SHA-1 of the whole, in hex, keeps it apart from others.
    """
    if not prefix:
        return name
    whole = prefix + name
    clean = _NOT_TAKEN.sub("_", whole)
    if len(clean) <= LONGEST_NAME:
        return clean
    # As Codex does it: the digest names, it protects nothing.
    mark = hashlib.sha1(whole.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return clean[: LONGEST_NAME - len(mark)] + mark


def habit_of(variant: Variant) -> tuple[str, str] | None:
    """Return the key of what ``variant`` does in a client's place, and what the client does.

    ``None`` if a client could be shown it like any other list.
    """
    if variant.max_result_tokens is not None:
        return "max_result_tokens", "cuts results"
    if variant.tool_search is not None:
        return "tool_search", "searches for tools"
    return None


def as_told(variant: Variant | None, text: str) -> str:
    """Return the text of a result as a model is told it under ``variant``."""
    most = None if variant is None else variant.max_result_tokens
    if most is None or (size := tokens_in(text)) <= most:
        return text
    note = f"[The result was cut here: it takes about {size:,} tokens, and {most:,} are shown.]"
    return f"{beginning_of(text, most)}\n{note}"


def cut_note(told: str) -> str:
    """Return the sentence at the end of what `as_told` has cut; empty if it has cut nothing."""
    found = _CUT.search(told)
    return "" if found is None else found[0]
