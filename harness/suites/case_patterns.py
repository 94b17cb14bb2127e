"""Patterns that select cases: ``-k "pii and not (slow or shop::delete_*)"``.

A word is searched for in ``suite::case`` and in the tags, ignoring case. A word with ``*``, ``?``
or ``[`` is a glob and must match the whole of ``suite::case``, of the case's name or of a tag, or
be equal to it: names of cases with parameters end in ``[…]``, so ``[`` may be meant literally.
Adjacent words are one word with spaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import TypeAlias

from harness.base import UsageError

Labels: TypeAlias = tuple[str, ...]
"""The texts that a case can be selected by."""
Picks: TypeAlias = Callable[[Labels], bool]
"""Whether a case with these labels is selected."""

_TOKEN = re.compile(r"[()]|[^\s()]+")
_OPERATORS = frozenset({"and", "or", "not", "(", ")"})
_MAX_DEPTH = 20  # far deeper than anybody nests by hand; protects the interpreter's stack


def compile_pattern(pattern: str) -> Picks:
    """Return a function that decides whether ``pattern`` selects a case.

    Raises:
        UsageError: the pattern is empty or invalid.
    """
    parser = _PatternParser(pattern)
    picks = parser.parse_alternatives(0)
    # A bracket too many: without this, all behind it would be ignored.
    if parser.next_token is not None:
        raise parser.build_error()
    return picks


def list_labels(suite: str, case: str, tags: Iterable[str]) -> Labels:
    """Return the texts that a case of that suite can be selected by."""
    # Folded once for a case, and not for each word of the pattern.
    return tuple(label.casefold() for label in (f"{suite}::{case}", case, *tags))


class _PatternParser:
    """Recursive-descent parser: ``or`` of ``and`` of words, ``not`` and parentheses."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._tokens = _TOKEN.findall(pattern)
        self._position = 0

    @property
    def next_token(self) -> str | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def parse_alternatives(self, depth: int) -> Picks:
        options = [self._parse_conjunction(depth)]
        while self._take_token("or"):
            options.append(self._parse_conjunction(depth))
        return lambda case: any(option(case) for option in options)

    def _parse_conjunction(self, depth: int) -> Picks:
        parts = [self._parse_term(depth)]
        while self._take_token("and"):
            parts.append(self._parse_term(depth))
        return lambda case: all(part(case) for part in parts)

    def _parse_term(self, depth: int) -> Picks:
        wanted = True
        # A loop and no recursion: thousands of "not" are no depth.
        while self._take_token("not"):
            wanted = not wanted
        if self._take_token("("):
            if depth == _MAX_DEPTH:
                raise UsageError(f"the pattern {self._pattern!r} nests too deeply")
            inner = self.parse_alternatives(depth + 1)
            if not self._take_token(")"):
                raise self.build_error()
        else:
            inner = _match_word(self._take_words())
        return lambda case: inner(case) is wanted

    def _take_words(self) -> str:
        first = self._position
        while self.next_token is not None and self.next_token not in _OPERATORS:
            self._position += 1
        if first == self._position:
            raise self.build_error()
        return " ".join(self._tokens[first : self._position])

    def _take_token(self, token: str) -> bool:
        taken = self.next_token == token
        self._position += taken
        return taken

    def build_error(self) -> UsageError:
        token = self.next_token
        place = "it ends unexpectedly" if token is None else f"{token!r} is not expected there"
        meant = "Write words, joined by 'and', 'or', 'not' and parentheses."
        return UsageError(f"the pattern {self._pattern!r} cannot be read: {place}", meant=meant)


def _match_word(word: str) -> Picks:
    folded = word.casefold()
    if any(sign in folded for sign in "*?["):
        globs = (folded, folded.replace("[", "[[]"))  # [ab] is either letter, or the end of a name
        return lambda case: any(
            label == folded or any(fnmatchcase(label, glob) for glob in globs) for label in case
        )
    return lambda case: any(folded in label for label in case)
