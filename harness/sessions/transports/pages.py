"""The cursor at the end of a page of a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def get_next_cursor(page: Mapping[str, Any]) -> str | None:
    """Return the cursor of the page after ``page``; ``None`` at the end.

    An empty one is the end, too: servers in some languages write it for none.
    """
    cursor = page.get("nextCursor")
    return cursor if isinstance(cursor, str) and cursor else None


def has_bad_cursor(page: Mapping[str, Any]) -> bool:
    """Whether there is a further page whose cursor is no text, so that nobody can ask for it."""
    cursor = page.get("nextCursor")
    return cursor is not None and not isinstance(cursor, str)
