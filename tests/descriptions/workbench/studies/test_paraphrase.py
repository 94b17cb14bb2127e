"""The effect of other wordings on the verdicts of cases, computed from counts."""

from __future__ import annotations

import random

import pytest

from harness.descriptions.workbench.studies.paraphrase import (
    PhrasedCase,
    Phrasing,
    measure_consistency,
)


def a_case(name: str, *trials: tuple[int, int], threshold: float = 1.0) -> PhrasedCase:
    phrasings = tuple(
        Phrasing(words=f"{name} {place}", trials=counts) for place, counts in enumerate(trials)
    )
    return PhrasedCase(name=name, phrasings=phrasings, threshold=threshold)


def test_a_case_hangs_on_its_wording_if_its_verdict_changes() -> None:
    found = measure_consistency(
        [a_case("a", (1, 1), (1, 1)), a_case("b", (1, 1), (0, 1)), a_case("c", (0, 1), (0, 1))]
    )
    assert found is not None
    assert found.consistent == pytest.approx(2 / 3)
    assert found.every == found.worst == pytest.approx(1 / 3)
    assert [cases for cases, _ in found.rates] == [3, 3]
    assert [rate for _, rate in found.rates] == pytest.approx([2 / 3, 1 / 3])
    hanging = found.cases[0]
    assert (hanging.name, hanging.is_sensitive) == ("b", True)
    assert [one.words for one in hanging.failing_phrasings] == ["b 1"]
    assert [case.is_sensitive for case in found.cases[1:]] == [False, False]


def test_with_one_trial_each_nothing_is_told_of_chance() -> None:
    found = measure_consistency([a_case("a", (1, 1), (0, 1))])
    assert found is not None
    assert found.within is None
    assert found.test is None
    assert found.cases[0].p_value is None


def test_the_verdict_of_a_case_goes_by_its_own_threshold() -> None:
    lenient = a_case("a", (3, 3), (2, 3), threshold=0.6)
    strict = a_case("b", (3, 3), (2, 3))
    assert not lenient.is_sensitive
    assert strict.is_sensitive


def test_cases_without_a_second_judged_wording_are_no_evidence() -> None:
    assert measure_consistency([a_case("a", (1, 1))]) is None
    assert measure_consistency([]) is None


def simulated(rng: random.Random, effect: float, trials: int = 3) -> list[PhrasedCase]:
    """Return 20 cases of four wordings, each moved by a random part of ``effect``."""
    cases = []
    for number in range(20):
        chance = rng.betavariate(2, 1)
        moved = [chance, *(chance + effect * rng.choice((-1, 1)) for _ in range(3))]
        counts = [
            (sum(rng.random() < min(1, max(0, rate)) for _ in range(trials)), trials)
            for rate in moved
        ]
        cases.append(a_case(f"c{number}", *counts))
    return cases


@pytest.mark.slow
def test_a_model_that_does_not_mind_words_is_rarely_said_to_mind_them() -> None:
    rng, overall, single = random.Random(1), 0, 0
    for _ in range(300):
        found = measure_consistency(simulated(rng, effect=0.0))
        assert found is not None
        assert found.test is not None
        overall += found.test.p_value < 0.05 and found.between > (found.within or 0)
        single += any(one.p_value is not None and one.p_value < 0.05 for one in found.cases)
    assert overall <= 25
    assert single <= 25


@pytest.mark.slow
def test_a_model_that_minds_words_is_found_out() -> None:
    rng, overall = random.Random(2), 0
    for _ in range(50):
        found = measure_consistency(simulated(rng, effect=0.6))
        assert found is not None
        assert found.test is not None
        overall += found.test.p_value < 0.05 and found.between > (found.within or 0)
    assert overall >= 45
