"""Habits of clients: they prefix the names of tools, and cut results."""

from __future__ import annotations

import hashlib
import re

from harness.types import Variant

LONGEST_NAME = 64
"""Most characters of a tool's name that model APIs accept."""

_NOT_TAKEN = re.compile(r"[^A-Za-z0-9_-]")


def client_name(prefix: str, name: str) -> str:
    """Return ``name`` with ``prefix``, as a client makes it for a model.

    A character that model APIs do not accept becomes ``_``. A name above `LONGEST_NAME` is cut, and
    the hex SHA-1 of the whole name is added to keep it unique.
    """
    if not prefix:
        return name
    whole = prefix + name
    clean = _NOT_TAKEN.sub("_", whole)
    if len(clean) <= LONGEST_NAME:
        return clean
    # As in Codex: the digest only makes names unique, it protects nothing.
    mark = hashlib.sha1(whole.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return clean[: LONGEST_NAME - len(mark)] + mark


def get_habit(variant: Variant) -> tuple[str, str] | None:
    """Return the key of the client habit that ``variant`` imitates, and the habit in words.

    ``None`` if it imitates none, so that a real client could use the variant.
    """
    if variant.max_result_tokens is not None:
        return "max_result_tokens", "cuts results"
    if variant.tool_search is not None:
        return "tool_search", "searches for tools"
    return None
