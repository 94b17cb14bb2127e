"""The type of decoders and of what they yield."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias


class DecodedSpan(NamedTuple):
    """A decoded part of a text."""

    at: int
    """Its start in the text."""
    source: str
    """The encoded part."""
    text: str
    """The decoded text on one line."""


Decoder: TypeAlias = Callable[[str], Iterator[DecodedSpan]]
"""Yields the parts of a text that it can decode."""
