"""Repeat a suspicious call after other callers, in changing order, before reporting it.

If the server remembers the previous caller's identity, the answer depends on the previous caller
each time. Changing data, random texts, load balancing and warming caches do not show that pattern.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

ROUNDS = 8
"""How often a suspicious call is repeated after each other caller. If a server answers at random, a
false alarm has a probability of at most 2 in 10,000 with two different answers, and of less than 1
in 100,000 with three."""
MOST_BEFORE = 4
"""Maximum number of other callers after whom a suspicious call is repeated."""
MOST_CONFIRMED = 3
"""Maximum number of confirmed calls of one caller; its other suspicious calls are not repeated."""


class RepeatReason(NamedTuple):
    """The reason for repeating a call."""

    words: str
    """Suffix of its name: ``after bobby``."""
    after: str | None = None
    """The previous caller; ``None`` for the previous caller's own call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A call of one caller whose answers differ."""

    name: str
    """Name of the caller."""
    call: str
    """Name of the call in tables."""
    how: str
    """The difference in words."""
    after: tuple[str, ...]
    """Possible previous callers, those with different answers first."""

    @property
    def preceding_callers(self) -> tuple[str, ...]:
        """The callers after whom the call is repeated; at least two, so maybe the caller itself."""
        others = self.after[:MOST_BEFORE]
        # After a single other caller, nothing could depend on who it was.
        return others if len(others) > 1 else (*others, self.name)

    def iterate_orders(self) -> Iterator[tuple[str, ...]]:
        """Yield the callers in a random but reproducible order for each round.

        The second round reverses the first, so that answers that alternate regularly do not seem
        to depend on the previous caller.
        """
        dice = random.Random(f"{self.call} {self.name}")  # noqa: S311 - repeatable, not secret
        yield self.preceding_callers
        yield self.preceding_callers[::-1]
        for _ in range(ROUNDS - 2):
            yield tuple(dice.sample(self.preceding_callers, len(self.preceding_callers)))

    def list_steps(self, before: str) -> tuple[tuple[str, RepeatReason], ...]:
        """Return two calls, in order: one of the caller ``before``, then the suspected one."""
        return (before, RepeatReason(f"before {self.name}")), (
            self.name,
            RepeatReason(f"after {before}", before),
        )
