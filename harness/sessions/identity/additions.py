"""What a prober adds to each HTTP request beside the identity: never part of a usual run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Additions:
    """Headers and parameters of the address; empty unless something is being tried."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers, which those of the identity override."""
    query: str = field(default="", repr=False)
    """Parameters for the address, encoded; they may hold a token."""

    def __bool__(self) -> bool:
        """Whether there is anything to add."""
        return bool(self.headers or self.query)

    @contextmanager
    def being(self, other: Additions) -> Iterator[None]:
        """Be equal to ``other`` within the block, and empty behind it."""
        self.headers, self.query = other.headers, other.query
        try:
            yield
        finally:
            self.headers, self.query = {}, ""
