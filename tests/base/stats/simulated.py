"""Simulated studies of known truth: cases whose trials end as a described chance has it."""

from __future__ import annotations

import random

from harness.base.stats.effects import Pair


def pairs_of_a_study(
    rng: random.Random, cases: int, difference: float, discordance: float, trials: int, icc: float
) -> list[Pair]:
    """Return the cases of one study with a true difference (after minus before).

    A trial on each side ends alike or not with the given discordance; of those that end alike seven
    in ten pass. The trials of a case share one such ending with chance √``icc`` each.
    """

    def ending() -> tuple[int, int]:
        drawn = rng.random()
        if drawn < (discordance + difference) / 2:
            return 0, 1
        if drawn < discordance:
            return 1, 0
        return (1, 1) if rng.random() < 0.7 else (0, 0)

    study: list[Pair] = []
    for _ in range(cases):
        common = ending()
        ends = [common if rng.random() < icc**0.5 else ending() for _ in range(trials)]
        study.append(((sum(b for b, _ in ends), trials), (sum(a for _, a in ends), trials)))
    return study
