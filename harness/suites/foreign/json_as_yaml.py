"""JSON that a parser of YAML can read: its places are known, and it means the same."""

from __future__ import annotations

import re

# A backslash and what it escapes, so that an escaped backslash begins no escape.
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|.)")


def prepare_json(text: str) -> str:
    """Return ``text`` without tabs, and with whole characters in place of halves."""
    return _ESCAPE.sub(_join_halves, text.replace("\t", " "))


def _join_halves(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    high, low = int(found[1], 16), int(found[2], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
