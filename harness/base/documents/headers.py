"""Checks names and values of HTTP headers."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_WRONG = re.compile(r"[^\x20-\x7e\xa0-\xff]")
_OURS = frozenset(
    """accept connection content-length content-type host last-event-id mcp-method mcp-name
    mcp-protocol-version mcp-session-id te trailer transfer-encoding upgrade""".split()  # noqa: SIM905
)


def header_problem(name: str, value: str = "") -> str | None:
    """Return why a header is invalid, or ``None``; its value may be a secret and is not shown."""
    if not _NAME.fullmatch(name):
        return "its name may contain only letters, digits and !#$%&'*+-.^_`|~"
    if name.lower() in _OURS:
        return "harness itself sets this header"
    wrong = _WRONG.search(value)
    if wrong is not None:
        character = f"the character U+{ord(wrong[0]):04X}"
        return f"its value contains {character}, but only printable Latin-1 is allowed"
    return "its value begins or ends with a space" if value != value.strip() else None
