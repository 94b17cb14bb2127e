"""What a decoder is and what it yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias


class Stretch(NamedTuple):
    """A part of a text, decoded."""

    at: int
    """Where it begins in the text."""
    source: str
    """The part as it stands there."""
    text: str
    """What it decodes to, on one line."""


Decoder: TypeAlias = Callable[[str], Iterator[Stretch]]
"""Yields what it can decode in a text."""
