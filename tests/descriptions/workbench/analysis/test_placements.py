"""Whether the order of the tools matters, worked out from simulated models of known behaviour."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from harness.descriptions.workbench.analysis.placements import (
    PlacedCall,
    PlacementEffects,
    measure_placement,
)

TOOLS = 10
"""Length of the list."""
Model = Callable[[float, float], float]
"""(chance of the case, place of the wanted tool) → chance that it is called, and so passes."""


def study(model: Model, rng: random.Random, cases: int = 40, trials: int = 1) -> PlacementEffects:
    """Return a simulated study with five orders and the wanted tool at each end."""
    orders: dict[str, dict[str, tuple[int, int]]] = {f"order {n}": {} for n in range(5)}
    ends: tuple[dict[str, tuple[int, int]], ...] = ({}, {})
    calls: dict[str, list[PlacedCall]] = {"first": [], "last": [], "others": []}

    def ask(name: str, own: float, place: float, into: str) -> tuple[int, int]:
        passed = 0
        for _ in range(trials):
            chosen = rng.random() < model(own, place)
            key = str(rng.random())
            calls[into].append(PlacedCall(key=key, case=name, place=place, chosen=chosen))
            passed += chosen
        return passed, trials

    for number in range(cases):
        name, own = f"c{number}", rng.betavariate(2, 1)
        for order in orders.values():
            order[name] = ask(name, own, rng.randrange(TOOLS) / (TOOLS - 1), "others")
        ends[0][name] = ask(name, own, 0.0, "first")
        ends[1][name] = ask(name, own, 1.0, "last")
    return measure_placement(
        orders,
        (ends[0], calls["first"]),
        (ends[1], calls["last"]),
        calls["others"],
        draws=199,
    )


def by_words(own: float, _place: float) -> float:
    return own


def by_place(own: float, place: float) -> float:
    return own * (1 - 0.6 * place)


def claims(found: PlacementEffects) -> set[str]:
    """Return what the study says is shown."""
    assert found.passing is not None
    assert found.choosing is not None
    assert found.orders is not None
    assert found.trend is not None
    told = {
        "passing": found.passing.verdict in {"better", "worse"},
        "choosing": found.choosing.verdict in {"better", "worse"},
        "orders": found.orders.is_significant,
        "trend": found.trend.is_significant,
    }
    return {name for name, claimed in told.items() if claimed}


@pytest.mark.slow
def test_a_model_that_goes_by_words_is_rarely_said_to_go_by_the_place() -> None:
    rng, studies = random.Random(5), 60
    alarms = sum(bool(claims(study(by_words, rng, cases=20))) for _ in range(studies))
    # 8 of 60 would happen by chance in 1 of 100 such tests with a true level of 5 %.
    assert alarms <= 8


@pytest.mark.slow
def test_a_model_that_goes_by_the_place_is_found_out() -> None:
    rng = random.Random(6)
    told = [claims(study(by_place, rng, cases=60)) for _ in range(10)]
    assert sum({"passing", "choosing", "trend"} <= one for one in told) >= 9


def test_the_first_place_is_better_and_the_trend_falls() -> None:
    found = study(by_place, random.Random(7), cases=60, trials=3)
    assert found.passing is not None
    assert found.passing.difference > 0.2
    assert found.trend is not None
    assert found.trend.slope < -0.2
    shares = [chosen / total for chosen, total in found.trend.thirds]
    assert shares == sorted(shares, reverse=True)
    assert found.orders is not None
    assert found.orders.within is not None
    assert found.orders.test is not None


def test_a_model_that_never_minds_is_equivalent_with_enough_cases() -> None:
    found = study(lambda _own, _place: 1.0, random.Random(8), cases=150)
    assert found.passing is not None
    assert found.passing.verdict == "equivalent"
    assert claims(found) == set()


def test_a_trial_that_stands_in_two_parts_is_counted_once() -> None:
    calls = [PlacedCall(key="k", case="a", place=0.0, chosen=True)]
    more = [PlacedCall(key="m", case="a", place=1.0, chosen=False)]
    found = measure_placement({}, ({}, calls), ({}, more), calls)
    assert found.trend is not None
    assert found.trend.thirds == ((1, 1), (0, 0), (0, 1))


def test_nothing_is_told_of_what_was_not_run() -> None:
    found = measure_placement({"own": {"a": (1, 1)}}, ({}, []), ({}, []), [])
    assert (found.passing, found.choosing, found.orders, found.trend) == (None, None, None, None)


@pytest.mark.slow
def test_false_alarms_of_all_claims_together_stay_within_the_level() -> None:
    rng, studies = random.Random(11), 400
    alarms = sum(bool(claims(study(by_words, rng, cases=25))) for _ in range(studies))
    # 32 of 400 would happen by chance in 1 of 200 such tests with a true level of 5 %.
    assert alarms <= 32
