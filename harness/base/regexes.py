"""Regular expressions: matched in linear time, and example texts of a pattern."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

# Bytes of a compiled pattern: the worst of that size takes 2 s on 100 kB of text.
_MAX_MEMORY = 1 << 20


class BrokenPattern(ValueError):
    """A pattern that RE2 does not accept; the text is RE2's reason."""


@lru_cache(maxsize=512)
def _compile_pattern(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False  # it would write to stderr on its own
    options.max_mem = _MAX_MEMORY
    return re2.compile(pattern, options)


def search_pattern(pattern: str, text: str) -> tuple[int, int] | None:
    """Return where ``pattern`` first matches in ``text``, as (start, end); ``None`` if nowhere.

    Raises:
        BrokenPattern: it is none that RE2 takes.
    """
    # RE2 works on UTF-8, which has no half of a surrogate pair.
    found = _parse_pattern(pattern).search(text.encode("utf-8", "replace").decode("utf-8"))
    return None if found is None else found.span()


def matches_whole(pattern: str, text: str) -> bool:
    """Return whether ``pattern`` matches ``text`` from its beginning to its end.

    Raises:
        BrokenPattern: it is none that RE2 takes.
    """
    return search_pattern(rf"\A(?:{pattern})\z", text) is not None


def program_size(pattern: str) -> int:
    """Return the number of instructions of ``pattern``: they bound a search's time per character.

    Raises:
        BrokenPattern: it is none that RE2 takes.
    """
    size: int = _parse_pattern(pattern).programsize
    return size


def _parse_pattern(pattern: str) -> Any:
    try:
        return _compile_pattern(pattern)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if isinstance(error, re2.error) and error.args else str(error)
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BrokenPattern(told) from error


_LONGEST = 120  # characters of a text that fits into a prompt
_DEEPEST = 20  # groups inside groups
_USUAL = 3  # repetitions of a part without an upper limit
_CLASSES = {"d": "1234567890", "w": string.ascii_lowercase, "s": " "}
_PLAIN = string.ascii_lowercase + string.digits + string.ascii_uppercase + "-_ ."
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}


class _UnreadablePattern(Exception):
    """The pattern is not a simple one."""


def text_matching(pattern: str) -> str | None:
    """Return a text intended to match ``pattern``: ``CUST_12345`` for ``^CUST_[0-9]{5}$``.

    Return ``None`` if the pattern is not simple.
    """
    reader = _PatternReader(pattern)
    try:
        text = reader.read_alternatives(0)
        return text if reader.is_done() and len(text) <= _LONGEST else None
    except (_UnreadablePattern, IndexError, ValueError):
        return None


class _PatternReader:
    """Reads a pattern from left to right and writes a text as it goes."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0

    def is_done(self) -> bool:
        """Whether the whole pattern is read."""
        return self._place == len(self._pattern)

    def read_alternatives(self, depth: int) -> str:
        """Read ``a|b|c`` up to the end or the bracket that closes it, and return the first."""
        if depth > _DEEPEST:
            raise _UnreadablePattern
        options = [self._read_sequence(depth)]
        while self._skip_if_next("|"):
            options.append(self._read_sequence(depth))
        return options[0]

    def _read_sequence(self, depth: int) -> str:
        text = ""
        while not self.is_done() and self._peek() not in "|)":
            choices = self._read_item(depth)
            count = self._read_repeats()
            # Before anything is built: a pattern may ask for millions.
            if count > _LONGEST:
                raise _UnreadablePattern
            # The n-th repeat takes the n-th choice, so that five digits are 12345.
            text += "".join(choices[n % len(choices)] for n in range(count)) if choices else ""
            if len(text) > _LONGEST:
                raise _UnreadablePattern
        return text

    def _read_item(self, depth: int) -> Sequence[str]:
        """Return texts for the next item, the most readable first; none for an anchor."""
        character = self._take_next()
        if character in "^$":
            return ()
        if character == "(":
            return (self._read_group(depth),)
        if character == "[":
            return self._read_class()
        if character == ".":
            return _CLASSES["w"]
        if character == "\\":
            return self._read_escape()
        if character in "*+?{":
            raise _UnreadablePattern
        return (character,)

    def _read_group(self, depth: int) -> str:
        if self._skip_if_next("?") and not self._skip_if_next(":"):
            raise _UnreadablePattern
        text = self.read_alternatives(depth + 1)
        if not self._skip_if_next(")"):
            raise _UnreadablePattern
        return text

    def _read_escape(self) -> Sequence[str]:
        character = self._take_next()
        if character in "bBAZz":
            return ()
        if character in _CLASSES:
            return _CLASSES[character]
        if character.isalnum() and character not in _ESCAPES:
            raise _UnreadablePattern
        return (_ESCAPES.get(character, character),)

    def _read_class(self) -> Sequence[str]:
        negated = self._skip_if_next("^")
        members: list[str] = []
        while not self._skip_if_next("]"):
            members += self._read_member()
        if negated:
            members = [character for character in _PLAIN if character not in members]
        if not members:
            raise _UnreadablePattern
        return members

    def _read_member(self) -> Sequence[str]:
        first = self._take_next()
        options: Sequence[str] = self._read_escape() if first == "\\" else (first,)
        # A hyphen at the end of a class stands for itself.
        if len(options) != 1 or self._peek() != "-" or self._pattern[self._place + 1] == "]":
            return options
        self._place += 1
        last = self._take_next()
        if last == "\\":
            last = self._read_escape()[0]
        # A class may reach over all of Unicode, and a few of its characters are enough.
        low = ord(options[0])
        characters = [chr(code) for code in range(low, min(ord(last), low + 200) + 1)]
        if characters[:1] == ["0"]:
            characters = [*characters[1:], "0"]  # 12345 looks more like a number than 01234
        return characters

    def _read_repeats(self) -> int:
        """Read ``*``, ``+``, ``?``, ``{2}``, ``{2,}`` or ``{2,5}``, and return the repetitions."""
        if self._skip_if_next("*") or self._skip_if_next("?"):
            count = 0  # an optional part is left out
        elif self._skip_if_next("+"):
            count = _USUAL
        elif self._skip_if_next("{"):
            least, comma, most = self._read_until("}").partition(",")
            count = int(least)
            if comma and count == 1:
                count = min(_USUAL, int(most)) if most else _USUAL
        else:
            return 1
        # A lazy quantifier matches the same texts.
        self._skip_if_next("?")
        return count

    def _read_until(self, end: str) -> str:
        stop = self._pattern.index(end, self._place)
        text = self._pattern[self._place : stop]
        self._place = stop + 1
        return text

    def _peek(self) -> str:
        return self._pattern[self._place]

    def _take_next(self) -> str:
        self._place += 1
        return self._pattern[self._place - 1]

    def _skip_if_next(self, character: str) -> bool:
        """Skip ``character`` if it comes next, and return whether it did."""
        found = self._place < len(self._pattern) and self._pattern[self._place] == character
        self._place += found
        return found
