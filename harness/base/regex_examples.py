"""A text that matches a regular expression, for the simple expressions that are common in schemas.

Supported are literals, classes, the escapes of digits, words and spaces, groups, alternatives (the
first is taken) and counts. Other patterns have no text. The caller must still check the text
against the pattern.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

_LONGEST = 120  # characters of a text that fits into a prompt
_DEEPEST = 20  # groups inside groups
_USUAL = 3  # repetitions of a part without an upper limit
_CLASSES = {"d": "1234567890", "w": string.ascii_lowercase, "s": " "}
_PLAIN = string.ascii_lowercase + string.digits + string.ascii_uppercase + "-_ ."
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}


class _Unreadable(Exception):
    """The pattern is not a simple one."""


def text_matching(pattern: str) -> str | None:
    """Return a text intended to match ``pattern``: ``CUST_12345`` for ``^CUST_[0-9]{5}$``.

    Return ``None`` if the pattern is not simple.
    """
    reader = _Reader(pattern)
    try:
        text = reader.alternatives(0)
        return text if reader.is_done() and len(text) <= _LONGEST else None
    except (_Unreadable, IndexError, ValueError):
        return None


class _Reader:
    """Reads a pattern from left to right and writes a text as it goes."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0

    def is_done(self) -> bool:
        """Whether the whole pattern is read."""
        return self._place == len(self._pattern)

    def alternatives(self, depth: int) -> str:
        """Read ``a|b|c`` up to the end or the bracket that closes it, and return the first."""
        if depth > _DEEPEST:
            raise _Unreadable
        options = [self._sequence(depth)]
        while self._takes("|"):
            options.append(self._sequence(depth))
        return options[0]

    def _sequence(self, depth: int) -> str:
        text = ""
        while not self.is_done() and self._peek() not in "|)":
            choices = self._item(depth)
            count = self._repeats()
            if count > _LONGEST:
                raise _Unreadable
            # The n-th repeat takes the n-th choice, so that five digits are 12345.
            text += "".join(choices[n % len(choices)] for n in range(count)) if choices else ""
            if len(text) > _LONGEST:
                raise _Unreadable
        return text

    def _item(self, depth: int) -> Sequence[str]:
        """Return texts for the next item, the most readable first; none for an anchor."""
        character = self._next()
        if character in "^$":
            return ()
        if character == "(":
            return (self._group(depth),)
        if character == "[":
            return self._class()
        if character == ".":
            return _CLASSES["w"]
        if character == "\\":
            return self._escape()
        if character in "*+?{":
            raise _Unreadable
        return (character,)

    def _group(self, depth: int) -> str:
        if self._takes("?") and not self._takes(":"):
            raise _Unreadable
        text = self.alternatives(depth + 1)
        if not self._takes(")"):
            raise _Unreadable
        return text

    def _escape(self) -> Sequence[str]:
        character = self._next()
        if character in "bBAZz":
            return ()
        if character in _CLASSES:
            return _CLASSES[character]
        if character.isalnum() and character not in _ESCAPES:
            raise _Unreadable
        return (_ESCAPES.get(character, character),)

    def _class(self) -> Sequence[str]:
        negated = self._takes("^")
        members: list[str] = []
        while not self._takes("]"):
            members += self._member()
        if negated:
            members = [character for character in _PLAIN if character not in members]
        if not members:
            raise _Unreadable
        return members

    def _member(self) -> Sequence[str]:
        first = self._next()
        options: Sequence[str] = self._escape() if first == "\\" else (first,)
        if len(options) != 1 or self._peek() != "-" or self._pattern[self._place + 1] == "]":
            return options
        self._place += 1
        last = self._next()
        if last == "\\":
            last = self._escape()[0]
        characters = [
            chr(code) for code in range(ord(options[0]), min(ord(last), ord(options[0]) + 200) + 1)
        ]
        if characters[:1] == ["0"]:
            characters = [*characters[1:], "0"]  # 12345 looks more like a number than 01234
        return characters

    def _repeats(self) -> int:
        """Read ``*``, ``+``, ``?``, ``{2}``, ``{2,}`` or ``{2,5}``, and return the repetitions."""
        if self._takes("*") or self._takes("?"):
            count = 0  # an optional part is left out
        elif self._takes("+"):
            count = _USUAL
        elif self._takes("{"):
            least, comma, most = self._until("}").partition(",")
            count = int(least)
            if comma and count == 1:
                count = min(_USUAL, int(most)) if most else _USUAL
        else:
            return 1
        self._takes("?")
        return count

    def _until(self, end: str) -> str:
        stop = self._pattern.index(end, self._place)
        text = self._pattern[self._place : stop]
        self._place = stop + 1
        return text

    def _peek(self) -> str:
        return self._pattern[self._place]

    def _next(self) -> str:
        self._place += 1
        return self._pattern[self._place - 1]

    def _takes(self, character: str) -> bool:
        """Skip ``character`` if it comes next, and return whether it did."""
        found = self._place < len(self._pattern) and self._pattern[self._place] == character
        self._place += found
        return found
