"""Batches of what is too much to be held at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

_T = TypeVar("_T")


def iterate_batches(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yield ``items`` in lists of ``size``; the last may be shorter."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
