"""Downloads leaderboards' data into the user's cache: verified, unpacked, then used offline.

The data are not part of this project. A leaderboard has an object that satisfies `Source`; other
packages may add one under the entry-point group ``harness.sources``. ``harness fetch NAME`` finds
it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

from harness.types import dataclass

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with ``(activity, units done, total units)``; the total is 0 if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """A request to fetch data."""

    root: Path
    """The cache; the data gets a folder of its own in it."""
    origin: Path | None = None
    """A downloaded file or a checkout with the data; ``None`` downloads them."""
    categories: tuple[str, ...] = ()
    """The parts to fetch; empty means all."""
    limit: int | None = None
    """Most cases of each part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedData:
    """The fetched data."""

    folder: Path
    """Its folder."""
    summary: str
    """In words: ``5,088 cases in 22 categories``."""
    new: bool = True
    """Whether anything was downloaded."""


class Source(Protocol):
    """Data that can be fetched."""

    @property
    def title(self) -> str:
        """Its title with the version."""
        ...

    @property
    def licence(self) -> str:
        """Its licence and its origin."""
        ...

    def fetch(self, request: FetchRequest, progress: Progress) -> FetchedData:
        """Fetch it into ``request.root``; data that is already there is not fetched again.

        Raises:
            UsageError: there is no such part, it is not available, or it differs from the published
            data.
        """
        ...
