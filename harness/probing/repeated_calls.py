"""Repeat a suspect's call after other callers, in changing order, before reporting it.

An identity that the server remembers returns each time with the same previous caller; news, jokes,
load-balanced nodes and caches that warm up do not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

ROUNDS = 8
"""How often a suspected call is repeated after each other caller. Where a server answers at random,
a false alarm has a probability of at most 2 in 10,000 with two different answers, and of less than
1 in 100,000 with three."""
MOST_BEFORE = 4
"""Number of other callers after whom a suspected call is repeated."""
MOST_CONFIRMED = 3
"""Number of confirmed calls of one caller after which its other suspicious calls of the same sort
are not repeated."""


class Again(NamedTuple):
    """Why a call is made once more."""

    words: str
    """Told behind its name: ``after bobby``."""
    after: str | None = None
    """The caller before it; ``None`` for the call that the suspected one follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """One caller's answer to one call, which came out differently."""

    name: str
    """Whose."""
    call: str
    """To what, as tables have it."""
    how: str
    """What differed, in words."""
    after: tuple[str, ...]
    """Who may have asked before, the most telling first."""

    @property
    def before(self) -> tuple[str, ...]:
        """Return the callers after whom the call is repeated; its own, too, if only one is left."""
        others = self.after[:MOST_BEFORE]
        return others if len(others) > 1 else (*others, self.name)

    def orders(self) -> Iterator[tuple[str, ...]]:
        """Yield them for each round in some order, the same in every probe.

        The second round turns the first one round: answers that take turns, in whatever number,
        cannot keep step.
        """
        dice = random.Random(f"{self.call} {self.name}")  # noqa: S311 - repeatable, not secret
        yield self.before
        yield self.before[::-1]
        for _ in range(ROUNDS - 2):
            yield tuple(dice.sample(self.before, len(self.before)))

    def steps(self, before: str) -> tuple[tuple[str, Again], ...]:
        """Return two calls, in order: one of the caller ``before``, then the suspected one."""
        return (before, Again(f"before {self.name}")), (self.name, Again(f"after {before}", before))
