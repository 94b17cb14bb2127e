"""Which mutants a suite notices, computed from counts.

A case notices a mutant if it passes on the server's own list, passes again whenever the same words
are tried (the *placebos*), and fails under the mutant, each time in most of its trials. Where the
placebos show that cases fail by chance, so many cases have to fail that chance alone would do it
for about one mutant in twenty at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal, TypeAlias

from harness.stats.clusters import Trials
from harness.stats.intervals import Interval, wilson
from harness.workbench.mutants.mutant import Mutant

Fate: TypeAlias = Literal["killed", "survived", "open"]
"""``open``: not all cases that might notice it were judged, and none of the others did."""

LEVEL = 0.05
"""How often chance may pass for a kill."""

_ByCase: TypeAlias = Mapping[str, Trials]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One mutant and what came of it."""

    mutant: Mutant
    """The mutant."""
    fate: Fate
    """Whether the suite notices it."""
    noticed_by: tuple[str, ...]
    """Cases that pass on the server's own list and fail under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillScore:
    """How many planted defects a suite notices."""

    mutants: tuple[Judged, ...]
    """Every mutant that was tried, in their order."""
    able: tuple[str, ...]
    """Cases that pass on the server's own list every time: the others can notice nothing."""
    fickle: tuple[str, ...]
    """Cases that passed on the server's own list and failed on the same words."""
    chance: float
    """How often a case that passed failed on the same words."""
    needed: int
    """Cases that have to fail for a kill; 1 unless some are fickle."""

    def of(self, fate: Fate) -> tuple[Judged, ...]:
        """Return the mutants of one fate."""
        return tuple(one for one in self.mutants if one.fate == fate)

    @property
    def counted(self) -> int:
        """Mutants that were killed or survived."""
        return len(self.of("killed")) + len(self.of("survived"))

    @property
    def score(self) -> float | None:
        """The share of them that was killed; ``None`` if there are none."""
        return len(self.of("killed")) / self.counted if self.counted else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's interval of 95 % of `score`."""
        return wilson(len(self.of("killed")), self.counted)


def kill_score(
    clean: _ByCase, placebos: Sequence[_ByCase], arms: Sequence[tuple[Mutant, _ByCase]]
) -> KillScore:
    """Return which of the mutants in ``arms``, each with its (passed, judged) by case, are noticed.

    A case that has no verdict on a placebo counts as one that passes it.
    """
    passing = [name for name, trials in clean.items() if _passes(trials)]
    again = [(name, _passes(one[name])) for name in passing for one in placebos if name in one]
    failed = [name for name, passed in again if not passed]
    chance = len(failed) / len(again) if again else 0.0
    able = tuple(name for name in passing if name not in failed)
    needed = _needed(len(able), chance)
    return KillScore(
        mutants=tuple(_judged(mutant, able, needed, trials) for mutant, trials in arms),
        able=able,
        fickle=tuple(dict.fromkeys(failed)),
        chance=chance,
        needed=needed,
    )


def _judged(mutant: Mutant, able: Sequence[str], needed: int, trials: _ByCase) -> Judged:
    noticed = tuple(name for name in able if name in trials and _fails(trials[name]))
    fate: Fate = "survived"
    if len(noticed) >= needed:
        fate = "killed"
    elif not able or any(name not in trials for name in able):
        fate = "open"
    return Judged(mutant=mutant, fate=fate, noticed_by=noticed)


def _passes(trials: Trials) -> bool:
    passed, judged = trials
    return passed * 2 > judged


def _fails(trials: Trials) -> bool:
    passed, judged = trials
    return passed * 2 < judged


def _needed(cases: int, chance: float) -> int:
    """Return the least number of failures that ``chance`` causes in at most `LEVEL` of all runs."""
    return next((count for count, tail in _tails(cases, chance) if tail <= LEVEL), cases + 1)


def _tails(cases: int, chance: float) -> Iterator[tuple[int, float]]:
    """Yield each count from 1 with the probability that so many or more fail."""
    below = (1 - chance) ** cases
    for count in range(1, cases + 1):
        yield count, max(0.0, 1 - below)
        below += comb(cases, count) * chance**count * (1 - chance) ** (cases - count)
