"""Which mutants a suite notices: by the majority of trials, and beyond chance."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from harness.base.stats.units import Trials
from harness.descriptions.workbench.mutants.kill_score import kill_score
from harness.descriptions.workbench.mutants.planting import plant_mutants
from harness.descriptions.workbench.studies.kill_score import PLACEBOS
from tests.descriptions.workbench.mutants.tools import TOOLS
from tests.often import often

FIRST, SECOND, *_ = MUTANTS = plant_mutants(TOOLS, 1_000, 0).mutants
CLEAN = {"a": (1, 1), "b": (1, 1), "c": (0, 1)}


def test_a_case_that_passes_and_then_fails_kills_and_is_named() -> None:
    found = kill_score(
        CLEAN,
        [CLEAN],
        [(FIRST, {"a": (1, 1), "b": (0, 1), "c": (0, 1)}), (SECOND, CLEAN)],
    )
    assert [(one.fate, one.noticed_by) for one in found.mutants] == [
        ("killed", ("b",)),
        ("survived", ()),
    ]
    assert found.able == ("a", "b")
    assert found.kill_rate == 0.5
    assert found.interval == pytest.approx((0.095, 0.905), abs=0.001)


def test_a_case_that_fails_on_the_servers_own_list_notices_nothing() -> None:
    found = kill_score({"c": (0, 1)}, [], [(FIRST, {"c": (0, 1)})])
    assert (found.mutants[0].fate, found.kill_rate, found.interval) == ("open", None, None)


def test_most_trials_of_a_case_decide() -> None:
    clean = {"a": (3, 3)}
    fates = {
        passed: kill_score(clean, [clean], [(FIRST, {"a": (passed, 3)})]).mutants[0].fate
        for passed in range(4)
    }
    assert fates == {0: "killed", 1: "killed", 2: "survived", 3: "survived"}
    tied = kill_score({"a": (4, 4)}, [], [(FIRST, {"a": (2, 4)})])
    assert tied.mutants[0].fate == "survived"


def test_what_was_not_judged_is_no_survivor() -> None:
    found = kill_score(CLEAN, [CLEAN], [(FIRST, {"a": (1, 1)}), (SECOND, {"a": (0, 1)})])
    assert [one.fate for one in found.mutants] == ["open", "killed"]
    assert found.counted_mutants == 1


def test_a_case_that_fails_on_the_same_words_kills_nothing_and_more_have_to_fail() -> None:
    clean = {f"c{number}": (1, 1) for number in range(10)}
    placebo = {**clean, "c0": (0, 1)}
    found = kill_score(
        clean,
        [placebo, clean],
        [
            (FIRST, {**clean, "c0": (0, 1)}),
            (SECOND, {**clean, **dict.fromkeys(("c1", "c2", "c3"), (0, 1))}),
            (MUTANTS[2], {**clean, "c1": (0, 1)}),
        ],
    )
    assert found.fickle == ("c0",)
    assert found.chance == 0.05
    assert found.needed == 3  # of nine cases that fail one time in twenty, two or more: 7 %
    assert [one.fate for one in found.mutants] == ["survived", "killed", "survived"]


def simulated(rng: random.Random, chance: float, trials: int) -> dict[str, Trials]:
    """Return 20 cases that fail by ``chance`` in each trial, whatever the words."""
    return {
        f"c{number}": (sum(rng.random() >= chance for _ in range(trials)), trials)
        for number in range(20)
    }


CHANCES: dict[str, Callable[[random.Random], float]] = {
    "steady": lambda _: 0.0,
    "hardly ever": lambda _: 0.005,
    "sometimes": lambda _: 0.1,
    "often": lambda _: 0.2,
    "mixed": lambda rng: rng.betavariate(0.3, 2),
    "some coin flips": lambda rng: 0.5 if rng.random() < 0.1 else 0.0,
}
"""How often cases fail whatever the words, in models of known behaviour."""


@pytest.mark.parametrize("trials", often([1, 3]))
@pytest.mark.parametrize("cases", [10, 40])
@pytest.mark.parametrize("name", often(sorted(CHANCES), 2))
def test_mutants_that_change_nothing_are_killed_one_time_in_twenty_at_most(
    name: str, cases: int, trials: int
) -> None:
    rng = random.Random(5)
    killed = tried = 0
    for _ in range(150):
        chances = [CHANCES[name](rng) for _ in range(cases)]

        def an_arm(chances: list[float] = chances) -> dict[str, Trials]:
            return {
                str(number): (sum(rng.random() >= chance for _ in range(trials)), trials)
                for number, chance in enumerate(chances)
            }

        arms = [(mutant, an_arm()) for mutant in MUTANTS[:10]]
        found = kill_score(an_arm(), [an_arm() for _ in range(PLACEBOS)], arms)
        killed += len(found.mutants_with("killed"))
        tried += len(found.mutants)
    assert tried == 1_500
    assert killed / tried <= 0.07  # 5 %, and what 150 studies of 10 mutants may be off
