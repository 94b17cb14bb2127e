"""Regular expressions of JavaScript in the syntax of RE2, as far as the two mean the same."""

from __future__ import annotations

import re

# What JavaScript counts as white space, and RE2 does not.
_MORE_SPACE = r"\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
_TOKEN = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\c[A-Za-z]|\\.|\(\?<(?=[A-Za-z_$])|\[\^?|\]|\.", re.DOTALL
)


_OUTSIDE = {
    r"\s": rf"[\s{_MORE_SPACE}]",
    r"\S": rf"[^\s{_MORE_SPACE}]",
    ".": r"[^\n\r\x{2028}\x{2029}]",
    "(?<": "(?P<",
}
_INSIDE = {r"\s": rf"\s{_MORE_SPACE}", r"\b": r"\x08"}
# Escapes of signs that mean themselves, and that RE2 does not know as escapes.
_NEEDLESS = frozenset(rf"\{sign}" for sign in "/'\"#,:;!@%&=<>~` _")


def translate_pattern(pattern: str) -> str:
    """Return ``pattern`` for RE2; what RE2 lacks stays, for RE2 to refuse it."""
    written: list[str] = []
    end, inside = 0, False
    for found in _TOKEN.finditer(pattern):
        part = found[0]
        written.append(pattern[end : found.start()])
        end = found.end()
        if found[1] is not None:
            part = rf"\x{{{found[1]}}}"
        elif part in ("[", "[^") and not inside:
            inside = True
            # In JavaScript, [] is no character and [^] is any.
            if pattern.startswith("]", end):
                part = r"[^\x00-\x{10ffff}" if part == "[" else r"[\x00-\x{10ffff}"
        elif part == "]":
            inside = False
        elif part in _NEEDLESS:
            part = part[1]
        else:
            part = (_INSIDE if inside else _OUTSIDE).get(part, part)
        written.append(part)
    return "".join([*written, pattern[end:]])
