"""Do the studies keep their word? Simulated studies of known truth, analysed as the workbench does.

The null: equal arms, 10,000 studies, and the upper confidence bound of the number of false claims
is 5 %. Power: models whose chance of the right call is a known function of the parts of a list.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from statistics import NormalDist, fmean

import pytest

from harness.base.stats.effects import Pair, paired_effects
from harness.base.stats.intervals import wilson_interval
from harness.base.stats.paired_tests import spread_p
from harness.base.stats.power import count_cases_needed
from harness.base.stats.sequences import ConfidenceSequence, adjust_by_holm
from harness.base.stats.slopes import trend_test
from harness.base.stats.units import Trials
from harness.descriptions.workbench.power_table import Variability, power_table

STUDIES = 10_000


def some_cases(rng: random.Random, count: int) -> list[float]:
    """Return the chances of cases, all uncertain: then most pairs differ by chance."""
    return [rng.uniform(0.2, 0.8) for _ in range(count)]


def trials(rng: random.Random, chance: float, count: int) -> Trials:
    return sum(rng.random() < chance for _ in range(count)), count


def holds(claims: int) -> None:
    """Check that false claims are at most 5 %, by the upper bound of their interval."""
    interval = wilson_interval(claims, STUDIES)
    assert interval is not None
    assert interval[1] <= 0.05, f"{claims} of {STUDIES}"


# ── The null ─────────────────────────────────────────────────────────────────────────────────


def ablation(rng: random.Random, cases: int, parts: int, repeats: int) -> bool:
    """Whether a study of equal arms, all compared with one clean arm, claims anything."""
    chances = some_cases(rng, cases)
    clean = [trials(rng, chance, repeats) for chance in chances]
    groups = [
        [
            (trials(rng, chance, repeats), known)
            for chance, known in zip(chances, clean, strict=True)
        ]
        for _ in range(parts)
    ]
    return any(
        effect is not None and effect.verdict in ("better", "worse")
        for effect in paired_effects(groups)
    )


def decoys(rng: random.Random, cases: int, repeats: int) -> bool:
    """The same of two kinds of decoys at three lengths each, and of one clean arm."""
    chances = some_cases(rng, cases)
    clean = [trials(rng, chance, repeats) for chance in chances]
    tests = [
        trend_test(
            [
                {0: known, **{k: trials(rng, chance, repeats) for k in (8, 32, 128)}}
                for chance, known in zip(chances, clean, strict=True)
            ]
        )
        for _ in range(2)
    ]
    return min(adjust_by_holm([test.p_value for test in tests if test is not None])) < 0.05


def orders(rng: random.Random, cases: int) -> bool:
    """The same of three orders of a list."""
    rows = [[float(rng.random() < chance) for _ in range(3)] for chance in some_cases(rng, cases)]
    p = spread_p(rows, seed=rng.randrange(10**9), draws=99)
    return p is not None and p <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    [
        pytest.param(lambda rng: ablation(rng, 40, 12, 1), id="ablation of 12 parts"),
        pytest.param(lambda rng: ablation(rng, 12, 4, 3), id="ablation of 4 parts, 3 trials"),
        pytest.param(lambda rng: ablation(rng, 40, 1, 1), id="A/B"),
        pytest.param(lambda rng: ablation(rng, 20, 1, 3), id="A/B, 3 trials"),
        pytest.param(lambda rng: decoys(rng, 20, 1), id="decoys"),
        pytest.param(lambda rng: orders(rng, 12), id="orders"),
    ],
)
def test_ten_thousand_studies_of_equal_arms_make_false_claims_in_at_most_one_of_twenty(
    study: Callable[[random.Random], bool],
) -> None:
    rng = random.Random(20)
    holds(sum(study(rng) for _ in range(STUDIES)))


def test_a_thousand_studies_of_equal_arms_already_hold() -> None:
    rng = random.Random(2)
    assert sum(ablation(rng, 20, 3, 1) for _ in range(400)) <= 30


# ── Power ────────────────────────────────────────────────────────────────────────────────────


class Model:
    """A model whose chance of the right call follows from the parts that it is shown.

    The log-odds of a case are its own ease plus the weight of each part that is in the list.
    """

    def __init__(self, ease: float, spread: float, weight: float) -> None:
        self.ease, self.spread, self.weight = ease, spread, weight

    def chances(self, rng: random.Random) -> tuple[float, float]:
        """Return the chances of one case without and with the part that carries weight."""
        own = rng.gauss(self.ease, self.spread)
        return logistic(own), logistic(own + self.weight)

    @property
    def truth(self) -> tuple[float, float]:
        """The true gain of the part over all cases, and the discordance of pairs of trials."""
        normal = [NormalDist().inv_cdf((step + 0.5) / 2_000) for step in range(2_000)]
        own = [self.ease + self.spread * one for one in normal]
        pairs = [(logistic(one), logistic(one + self.weight)) for one in own]
        gain = fmean(q - p for p, q in pairs)
        return gain, fmean(p * (1 - q) + q * (1 - p) for p, q in pairs)


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def with_gain(ease: float, spread: float, gain: float) -> Model:
    """Return the model whose part is worth ``gain``."""
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if Model(ease, spread, middle).truth[0] < gain else (low, middle)
    return Model(ease, spread, high)


MODELS = [(0.5, 1.0), (1.0, 4.0), (-1.0, 8.0)]
"""Ease and spread of the cases: all uncertain, mixed, and nearly each case certain."""


def planned(discordance: float) -> int:
    """Return the cases that ``harness plan`` proposes for ten points with one trial each."""
    known = Variability(discordance=discordance, discordance_source="", icc=0.5, icc_source="")
    return power_table("s", 20, known, difference=0.1).wish.cases


@pytest.mark.slow
@pytest.mark.parametrize(("ease", "spread"), MODELS)
def test_a_gain_of_ten_points_is_found_in_four_of_five_studies_of_the_planned_size(
    ease: float, spread: float
) -> None:
    model, rng, studies = with_gain(ease, spread, 0.1), random.Random(8), 3_000
    gain, discordance = model.truth
    assert gain == pytest.approx(0.1, abs=1e-6)
    cases = planned(discordance)
    found = 0
    for _ in range(studies):
        chances = [model.chances(rng) for _ in range(cases)]
        (effect,) = paired_effects([[(trials(rng, p, 1), trials(rng, q, 1)) for p, q in chances]])
        found += effect is not None and effect.verdict == "better"
    # Four in five, as far as 3,000 studies can tell: two standard errors are 1.5 points.
    assert found / studies >= 0.8 - 0.015, (found / studies, cases)


@pytest.mark.slow
@pytest.mark.parametrize(("ease", "spread"), MODELS)
def test_the_part_that_carries_ten_points_is_ranked_first_of_twelve(
    ease: float, spread: float
) -> None:
    """In studies of the size at which its claim survives Holm's correction for twelve parts."""
    model, rng, studies, parts = with_gain(ease, spread, 0.1), random.Random(9), 300, 12
    cases = count_cases_needed(0.1, model.truth[1], alpha=0.05 / parts)
    first = claimed = 0
    for _ in range(studies):
        effects = paired_effects(list(_ablated(rng, model, cases, parts)))
        moves = [0.0 if effect is None else effect.difference for effect in effects]
        first += moves[0] == max(moves) and moves.count(moves[0]) == 1
        claimed += effects[0] is not None and effects[0].verdict == "better"
    assert first / studies >= 0.9, (first / studies, cases)
    assert claimed / studies >= 0.8 - 0.046, (claimed / studies, cases)


def _ablated(rng: random.Random, model: Model, cases: int, parts: int) -> Iterator[list[Pair]]:
    """Yield the pairs of each part, taken out and in; only the first carries weight."""
    chances = [model.chances(rng) for _ in range(cases)]
    clean = [trials(rng, with_part, 1) for _, with_part in chances]
    for part in range(parts):
        left = [trials(rng, both[0 if part == 0 else 1], 1) for both in chances]
        yield list(zip(left, clean, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("ease", "spread"), MODELS)
def test_a_confidence_sequence_holds_the_gain_at_every_look_in_95_of_100_studies(
    ease: float, spread: float
) -> None:
    model, rng, studies, missed = with_gain(ease, spread, 0.1), random.Random(10), 400, 0
    for _ in range(studies):
        sequence = ConfidenceSequence()
        for _ in range(120):
            p, q = model.chances(rng)
            low, high = sequence.add([(rng.random() < q) - (rng.random() < p)])
            if not low <= 0.1 <= high:
                missed += 1
                break
    assert missed / studies <= 0.05, missed
