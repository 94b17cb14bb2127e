"""Compute the mutation score of a policy suite."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from harness.base import Interval, wilson_interval
from harness.probing.mutants.missing_expectations import MissingLine, missing_lines
from harness.probing.mutants.operators import ServerMutant, generate_mutants
from harness.probing.mutants.recording import AnswerRecording, Cell
from harness.types import Check, Decision

KilledBy: TypeAlias = Literal["suite", "search", "kept"]
"""``suite``: an expectation of the suite. ``search``: a finding that needs no expectation.
``kept``: a kept decision."""
MOST = 600
"""Maximum number of judged mutants; if there are more, a reproducible sample is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMutant:
    """One judged mutant."""

    operator: str
    """The kind of fault."""
    words: str
    """The fault on one line."""
    killed_by: KilledBy | None
    """What noticed it; ``None`` if it survived."""
    missing: MissingLine | None = None
    """The expectation that would notice a survivor; ``None`` if no expectation can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationScore:
    """The result for all mutants."""

    planted: tuple[ScoredMutant, ...]
    """All judged mutants."""
    left_out: int
    """Number of mutants beyond `MOST`, which were not judged."""

    @property
    def survivors(self) -> tuple[ScoredMutant, ...]:
        """The mutants that nothing noticed."""
        return tuple(each for each in self.planted if each.killed_by is None)

    def count_killed(self, by: KilledBy | None = None) -> int:
        """Return the number of noticed mutants: by anything, or by ``by``."""
        return sum(
            each.killed_by is not None and by in (None, each.killed_by) for each in self.planted
        )

    @property
    def share(self) -> float | None:
        """Killed ÷ applicable; ``None`` if nothing could be planted."""
        return self.count_killed() / len(self.planted) if self.planted else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of `share`, by Wilson."""
        return wilson_interval(self.count_killed(), len(self.planted))

    @property
    def counts_by_operator(self) -> Mapping[str, tuple[int, int]]:
        """Operator → the number of its killed mutants, and of all its mutants."""
        all_of = Counter(each.operator for each in self.planted)
        killed = Counter(each.operator for each in self.planted if each.killed_by is not None)
        return {operator: (killed[operator], count) for operator, count in all_of.items()}


class MutantJudge(Protocol):
    """Decides what notices a mutant of recorded answers."""

    decisions: Mapping[Cell, tuple[Decision, ...]]
    """The server's decisions in the recorded answers."""

    async def judge_recorded(self) -> None:
        """Judge the recorded answers."""
        ...

    async def find_killer(self, mutant: ServerMutant) -> KilledBy | None:
        """Return what notices ``mutant``; ``None`` if nothing does."""
        ...

    async def would_notice(self, check: Check, cell: Cell, mutant: ServerMutant) -> bool:
        """Whether the suite would notice ``mutant`` if it also had ``check`` on ``cell``."""
        ...


async def mutation_score(recording: AnswerRecording, judge: MutantJudge) -> MutationScore:
    """Plant faults into recorded answers, and let ``judge`` decide which are noticed."""
    await judge.judge_recorded()
    every = list(generate_mutants(recording))
    chosen = _sample_mutants(every)
    planted = [await _judge_mutant(mutant, recording, judge) for mutant in chosen]
    return MutationScore(planted=tuple(planted), left_out=len(every) - len(chosen))


def _sample_mutants(every: Sequence[ServerMutant]) -> Sequence[ServerMutant]:
    if len(every) <= MOST:
        return every
    places = random.Random(0).sample(range(len(every)), MOST)  # noqa: S311 - repeatable, not secret
    # In their own order again, so that a sample reads like the whole.
    return [every[place] for place in sorted(places)]


async def _judge_mutant(
    mutant: ServerMutant, recording: AnswerRecording, judge: MutantJudge
) -> ScoredMutant:
    killed_by = await judge.find_killer(mutant)
    missing = None
    if killed_by is None:
        # The most relevant lines come first, and one is enough.
        for line in missing_lines(mutant, recording, judge.decisions):
            if await judge.would_notice(line.check, line.cell, mutant):
                missing = line
                break
    return ScoredMutant(
        operator=mutant.operator, words=mutant.words, killed_by=killed_by, missing=missing
    )
