"""Data of others, brought to the user's cache: verified, unpacked, and offline from then on.

Nothing of it is part of this project. A leaderboard brings an object that satisfies `Source`; so does
a package, under the entry-point group ``harness.sources``. ``harness fetch NAME`` finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told ``(what is done, units done, units in all)``; 0 in all where that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What is to be fetched."""

    root: Path
    """The cache: the data goes into a folder of its own there."""
    origin: Path | None = None
    """Where it lies already: a downloaded file, or a checkout; ``None`` downloads it."""
    categories: tuple[str, ...] = ()
    """Only these parts; none means all."""
    limit: int | None = None
    """At most so many cases of each part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What is there now."""

    folder: Path
    """Where."""
    summary: str
    """What: ``5,088 cases in 22 categories``."""
    new: bool = True
    """Whether anything had to be done."""


class Source(Protocol):
    """Data that can be fetched."""

    @property
    def title(self) -> str:
        """What it is, with its version."""
        ...

    @property
    def licence(self) -> str:
        """Under which licence its owners give it away, and where from."""
        ...

    def fetch(self, request: FetchRequest, progress: Progress) -> Fetched:
        """Bring it to ``request.root``; what is there already is not fetched again.

        Raises:
            UsageError: there is no such part, or it cannot be had, or it is not what its owners
                published.
        """
        ...
