"""How many mutants a policy suite notices."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from harness.probing.mutants.missing import MissingLine, missing_lines
from harness.probing.mutants.operators import Mutant, mutants
from harness.probing.mutants.recording import Cell, Recording
from harness.stats.intervals import Interval, wilson
from harness.types import Check, Decision

KilledBy: TypeAlias = Literal["suite", "search", "kept"]
"""By an expectation that the suite states; by what is found without any; by a kept decision."""
MOST = 600
"""Mutants that are judged; of more, a sample that is the same each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One mutant, judged."""

    operator: str
    """What sort of fault."""
    words: str
    """What the server does, on a line."""
    killed_by: KilledBy | None
    """Who noticed it; ``None`` if nobody did."""
    missing: MissingLine | None = None
    """The expectation that would notice a survivor; ``None`` where none can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationScore:
    """What became of all mutants."""

    planted: tuple[Planted, ...]
    """Every mutant that was judged."""
    left_out: int
    """Mutants beyond `MOST`, which were not judged."""

    @property
    def survivors(self) -> tuple[Planted, ...]:
        """Those that nobody noticed."""
        return tuple(each for each in self.planted if each.killed_by is None)

    def killed(self, by: KilledBy | None = None) -> int:
        """Return how many were noticed: by anything, or by ``by``."""
        return sum(
            each.killed_by is not None and by in (None, each.killed_by) for each in self.planted
        )

    @property
    def share(self) -> float | None:
        """Killed ÷ applicable; ``None`` if nothing could be planted."""
        return self.killed() / len(self.planted) if self.planted else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of `share`, by Wilson."""
        return wilson(self.killed(), len(self.planted))

    @property
    def by_operator(self) -> Mapping[str, tuple[int, int]]:
        """Operator → how many of its mutants were killed, and how many there are."""
        all_of = Counter(each.operator for each in self.planted)
        killed = Counter(each.operator for each in self.planted if each.killed_by is not None)
        return {operator: (killed[operator], count) for operator, count in all_of.items()}


class MutantJudge(Protocol):
    """Tells who notices a mutant of recorded answers."""

    decisions: Mapping[Cell, tuple[Decision, ...]]
    """What the server decided, by the recorded answers."""

    async def begin(self) -> None:
        """Judge the recorded answers."""
        ...

    async def killed_by(self, mutant: Mutant) -> KilledBy | None:
        """Return who notices ``mutant``."""
        ...

    async def notices(self, check: Check, cell: Cell, mutant: Mutant) -> bool:
        """Whether the suite would notice ``mutant`` if it had ``check`` of ``cell`` as well."""
        ...


async def mutation_score(recording: Recording, judge: MutantJudge) -> MutationScore:
    """Plant faults in recorded answers, and ask ``judge`` who notices each."""
    await judge.begin()
    every = list(mutants(recording))
    chosen = _sample(every)
    planted = [await _judged(mutant, recording, judge) for mutant in chosen]
    return MutationScore(planted=tuple(planted), left_out=len(every) - len(chosen))


def _sample(every: Sequence[Mutant]) -> Sequence[Mutant]:
    if len(every) <= MOST:
        return every
    places = random.Random(0).sample(range(len(every)), MOST)  # noqa: S311 - repeatable, not secret
    return [every[place] for place in sorted(places)]


async def _judged(mutant: Mutant, recording: Recording, judge: MutantJudge) -> Planted:
    killed_by = await judge.killed_by(mutant)
    missing = None
    if killed_by is None:
        for line in missing_lines(mutant, recording, judge.decisions):
            if await judge.notices(line.check, line.cell, mutant):
                missing = line
                break
    return Planted(
        operator=mutant.operator, words=mutant.words, killed_by=killed_by, missing=missing
    )
