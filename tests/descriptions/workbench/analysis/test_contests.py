"""Which of several equal tools is called first, computed from first calls."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from harness.descriptions.workbench.analysis.contests import (
    RIVALS,
    Contest,
    ContestPick,
    Kind,
    Steering,
    analyze_steering,
)

Chooser = Callable[[int, int], int | None]
"""(turn, case) → place of the called rival, the set-apart one being at place ``turn``."""


def picks(chooser: Chooser, kind: Kind = "brag", cases: int = 10) -> Iterator[ContestPick]:
    for case in range(cases):
        for turn in range(RIVALS):
            place = chooser(turn, case)
            yield ContestPick(
                case=f"c{case}",
                tool="t",
                kind=kind,
                chosen=None if place is None else place == turn,
                place=place,
                name=None if place is None else f"t_{'bcde'[place]}",
            )


def find_contest(found: Steering, kind: Kind, tool: str | None = None) -> Contest | None:
    return next((one for one in found.contests if (one.kind, one.tool) == (kind, tool)), None)


def test_the_one_that_is_always_called_first_has_all_calls() -> None:
    found = find_contest(analyze_steering(picks(lambda turn, _: turn)), "brag")
    assert found is not None
    assert (found.share.share, found.share.advantage, found.call_ratio) == (1.0, 0.75, None)
    assert found.is_winning


def test_a_liking_for_a_place_is_no_steering() -> None:
    found = analyze_steering([*picks(lambda _turn, _case: 0), *picks(lambda _t, _c: 0, "equal")])
    brag = find_contest(found, "brag")
    assert brag is not None
    assert (brag.share.share, brag.call_ratio, brag.is_winning) == (0.25, 1.0, False)
    assert found.places == {0: 40}
    assert found.names == {"b": 40}


def test_calls_of_other_tools_are_counted_and_in_no_share() -> None:
    found = find_contest(analyze_steering(picks(lambda turn, case: turn if case else None)), "brag")
    assert found is not None
    assert (found.share.cases, found.elsewhere) == (9, 4)
    assert analyze_steering(picks(lambda _turn, _case: None)).contests == ()


def test_equal_texts_are_never_called_steering() -> None:
    found = find_contest(analyze_steering(picks(lambda turn, _: turn, "equal")), "equal")
    assert found is not None
    assert not found.is_winning


def test_each_tool_has_a_contest_of_its_own_words() -> None:
    found = find_contest(analyze_steering(picks(lambda turn, _: turn, "own")), "own", "t")
    assert found is not None
    assert found.is_winning


@pytest.mark.slow
@pytest.mark.parametrize("stickiness", [0.0, 0.8])
def test_a_model_that_does_not_mind_praise_is_rarely_called_steered(stickiness: float) -> None:
    rng, alarms, studies = random.Random(3), 0, 1_000
    for _ in range(studies):
        # A case may always go to the same place, or to any: both are blind to the words.
        own = [rng.randrange(RIVALS) if rng.random() < stickiness else None for _ in range(12)]

        def chooser(_turn: int, case: int, own: list[int | None] = own) -> int:
            place = own[case]
            return rng.randrange(RIVALS) if place is None else place

        found = find_contest(analyze_steering(picks(chooser, cases=12)), "brag")
        assert found is not None
        alarms += found.is_winning
    # Two-sided at 5 %: claims are one side of it.
    assert alarms <= 50


def test_a_model_that_praise_wins_over_is_found_out() -> None:
    rng, found_out = random.Random(4), 0
    for _ in range(100):
        chooser = lambda t, _: t if rng.random() < 0.5 else rng.randrange(RIVALS)  # noqa: E731
        chosen = find_contest(analyze_steering(picks(chooser, cases=12)), "brag")
        assert chosen is not None
        found_out += chosen.is_winning
    assert found_out >= 95
