"""A confidence sequence holds however often one looks.

On simulated studies of known differences.
"""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.stats.sequences import ConfidenceSequence


def moves(rng: random.Random, count: int, difference: float, discordance: float) -> list[int]:
    up, moved = (discordance + difference) / 2, discordance
    drawn = [rng.random() for _ in range(count)]
    return [1 if one < up else -1 if one < moved else 0 for one in drawn]


def missed(seed: int, count: int, difference: float, discordance: float) -> bool:
    """Whether the interval leaves the true difference at any of all looks."""
    sequence = ConfidenceSequence()
    for move in moves(random.Random(seed), count, difference, discordance):
        low, high = sequence.add([move])
        if not low <= difference <= high:
            return True
    return False


def test_before_any_case_everything_is_possible() -> None:
    assert ConfidenceSequence().interval == (-1.0, 1.0)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), max_size=60))
def test_the_interval_never_widens_and_stays_within_bounds(differences: list[float]) -> None:
    sequence, before = ConfidenceSequence(), (-1.0, 1.0)
    for difference in differences:
        now = sequence.add([difference])
        assert -1 <= before[0] <= now[0] <= now[1] <= before[1] <= 1
        before = now


def test_looking_in_between_changes_nothing() -> None:
    differences = moves(random.Random(1), 80, 0.1, 0.3)
    at_once, step_by_step = ConfidenceSequence(), ConfidenceSequence()
    at_once.add(differences)
    for difference in differences:
        step_by_step.add([difference])
    assert at_once.interval == step_by_step.interval


def test_a_clear_difference_is_found_and_equal_sides_are_not() -> None:
    low, _ = ConfidenceSequence().add([1.0] * 20)
    assert low > 0
    low, high = ConfidenceSequence().add([1.0, -1.0] * 20)
    assert low < 0 < high
    low, high = ConfidenceSequence().add([0.0] * 300)
    assert -0.05 < low < 0 < high < 0.05


def test_a_wider_alpha_gives_a_narrower_interval() -> None:
    differences = moves(random.Random(2), 100, 0.2, 0.4)
    strict, loose = ConfidenceSequence(0.01), ConfidenceSequence(0.2)
    assert strict.add(differences)[0] < loose.add(differences)[0]


@pytest.mark.slow
def test_few_simulated_studies_already_hold() -> None:
    assert sum(missed(seed, 60, 0.1, 0.3) for seed in range(40)) <= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("difference", "discordance"), [(0.0, 0.2), (0.0, 0.05), (0.1, 0.3), (0.3, 0.5), (0.0, 1.0)]
)
def test_of_three_hundred_studies_at_most_one_of_twenty_ever_misses(
    difference: float, discordance: float
) -> None:
    """All looks of a study together: 150 of them, one after each case."""
    misses = sum(missed(seed, 150, difference, discordance) for seed in range(300))
    assert misses <= 15


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize(
    "differences",
    [
        [1.0],
        [0.0, 0.0, 1.0, 0.0, -1.0],
        [1.0] * 30,
        [-1.0, 0.5, -0.5, -1.0, 0.25] * 8,
        moves(random.Random(5), 150, 0.2, 0.4),
    ],
)
def test_the_interval_is_what_the_published_process_leaves(
    differences: list[float], alpha: float
) -> None:
    """Means against which neither of two gamblers, each with half of 1, has ever made 1/α.

    Waudby-Smith and Ramdas 2024, theorem 3, with the predictable bets of their section 4.
    """
    sequence = ConfidenceSequence(alpha)
    assert sequence.add(differences) == sequence.interval == _published(differences, alpha)


def _published(differences: list[float], alpha: float) -> tuple[float, float]:
    values = [(difference + 1) / 2 for difference in differences]
    candidates = [(place + 0.5) / 400 for place in range(400)]
    capitals = {mean: [0.5, 0.5] for mean in candidates}
    low, high = 0.0, 1.0
    deviations: list[float] = []
    for time, value in enumerate(values, start=1):
        variance = (0.25 + math.fsum(deviations)) / time
        bet = math.sqrt(2 * math.log(2 / alpha) / (variance * time * math.log(time + 1)))
        for mean, capital in capitals.items():
            capital[0] *= 1 + min(bet, 0.5 / mean) * (value - mean)
            capital[1] *= 1 - min(bet, 0.5 / (1 - mean)) * (value - mean)
        average = (0.5 + math.fsum(values[:time])) / (time + 1)
        deviations.append((value - average) ** 2)
        left = [
            mean
            for mean, capital in capitals.items()
            if max(capital) < 1 / alpha and low <= mean <= high
        ]
        if left:
            low, high = max(low, left[0] - 0.5 / 400), min(high, left[-1] + 0.5 / 400)
    return 2 * low - 1, 2 * high - 1
