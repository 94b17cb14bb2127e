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
"""How often a suspect asks after each of the others. With two answers by chance an innocent one is
taken for guilty in 2 of 10,000 cases at most, with three in less than one of 100,000."""
MOST_BEFORE = 4
"""Callers after whom a suspect asks."""
MOST_CONFIRMED = 3
"""Calls of one suspect that are found guilty; those of the same sort that are left are not asked
again."""


class Again(NamedTuple):
    """Why a call is made once more."""

    words: str
    """Told behind its name: ``after bobby``."""
    after: str | None = None
    """Who has just asked; ``None`` where it is the one that the suspect asks after."""


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
        """Return the callers after whom the suspect asks again, itself among them if need be."""
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
        """Return the two calls, in order, that show what the suspect is told after ``before``."""
        return (before, Again(f"before {self.name}")), (self.name, Again(f"after {before}", before))
