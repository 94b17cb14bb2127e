"""Finds tokens that were sent to servers in any text, whole or split at their dots.

A token in three pieces is still a secret: its middle names the user, and the pieces can be joined
again. Pieces are found by looking up words, so thousands of tokens cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SHORTEST = 16
"""Fewest characters of a piece, so that a match is no coincidence."""
_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)
_WORD = re.compile(rf"((?:\\[bfnrt])?)([\w-]{{{_SHORTEST},}})", re.ASCII)
"""Matches a word, and skips a JSON escape before it, which would otherwise count as its first
letter."""


class TokenPieces:
    """The words of known tokens."""

    __slots__ = ("_mark", "_whole", "_words")

    def __init__(self, mark: str) -> None:
        """Start without tokens; ``mark`` replaces the pieces that are found."""
        self._mark = mark
        self._words: set[str] = set()
        self._whole: set[str] = set()

    def add(self, token: str) -> None:
        """Add the pieces of ``token``, if it is a JSON Web Token."""
        if _JWT.fullmatch(token):
            self._words.update(match[2] for match in _WORD.finditer(token))

    def add_whole(self, token: str) -> None:
        """Add ``token``, whatever its form, and its pieces if it has any."""
        self.add(token)
        if len(token) >= _SHORTEST and not _JWT.fullmatch(token):
            self._whole.add(token)

    def is_in(self, text: str) -> bool:
        """Return whether ``text`` contains a piece."""
        return any(token in text for token in self._whole) or (
            bool(self._words) and any(m[2] in self._words for m in _WORD.finditer(text))
        )

    def redact_text(self, text: str) -> str:
        """Return ``text`` without pieces: the same object if there are none."""
        if not self.is_in(text):
            return text
        for token in self._whole:
            text = text.replace(token, self._mark)
        text = _WORD.sub(lambda m: m[1] + (self._mark if m[2] in self._words else m[2]), text)
        # A whole token leaves one mark and not three.
        return text.replace(".".join([self._mark] * 3), self._mark)

    def redact_json(self, value: Any) -> Any:
        """Return a JSON ``value`` without pieces: the same object if there are none."""
        if not self._words and not self._whole:
            return value
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, Mapping):
            items = {
                self.redact_text(str(key)): self.redact_json(item) for key, item in value.items()
            }
            same = all(a is b for a, b in zip(items.values(), value.values(), strict=False))
            return value if same and items.keys() == value.keys() else items
        if isinstance(value, list):
            parts = [self.redact_json(item) for item in value]
            return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
        return value
