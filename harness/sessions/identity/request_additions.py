"""Additions to an HTTP request: those that say who asks, or those of a prober's attack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class RequestAdditions:
    """Additional headers and query parameters; none by default."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers; they may contain a token."""
    query: str = field(default="", repr=False)
    """Additional query parameters, encoded; they may contain a token."""

    def __bool__(self) -> bool:
        """Whether there is anything to add."""
        return bool(self.headers or self.query)

    @contextmanager
    def apply(self, other: RequestAdditions) -> Iterator[None]:
        """Take the values of ``other`` within the block, and be empty after it."""
        self.headers, self.query = other.headers, other.query
        try:
            yield
        finally:
            self.headers, self.query = {}, ""
