from __future__ import annotations

from dataclasses import FrozenInstanceError
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.judging.checks.kind import WantedCall
from harness.judging.checks.kinds.metrics import (
    CallPair,
    argument_match,
    pair_calls,
    score_match,
    tool_selection,
)
from harness.judging.matching.calls import best_pairs
from harness.judging.matching.matchers import check_matcher
from tests.judging.checks.strategies import JSON, PLAIN

TOOLS = st.sampled_from(["price", "news", "ratios"])
ARGS = st.dictionaries(
    st.sampled_from(["ticker", "period", "info"]), st.sampled_from(["AAPL", "1mo", 1, 2.5, True])
)
CALLS = st.lists(st.tuples(TOOLS, ARGS), max_size=5)


def calls(*made: str | tuple[str, dict[str, Any]]) -> list[WantedCall]:
    return [(one, {}) if isinstance(one, str) else one for one in made]


def can_be_asked_for(pattern: Any) -> bool:
    try:
        check_matcher(pattern)
    except InvalidValue:
        return False
    return True


def arguments(expected: list[WantedCall], made: list[WantedCall]) -> float:
    return argument_match(pair_calls(expected, made))


@pytest.mark.parametrize(
    ("expected", "made", "score"),
    [
        (["price"], ["price"], 1.0),
        (["price"], ["news"], 0.0),
        (["price"], [], 0.0),
        (["price", "price"], ["price"], 0.5),
        (["price", "news", "ratios"], ["news", "price"], 2 / 3),
        (["price"], ["news", "price", "price"], 1.0),
        ([], [], 1.0),
        ([], ["news"], 1.0),
    ],
)
def test_tool_selection_is_the_share_of_expected_calls_that_were_made(
    expected: list[str], made: list[str], score: float
) -> None:
    assert tool_selection(calls(*expected), calls(*made)) == score


@pytest.mark.parametrize(
    ("expected", "given", "score"),
    [
        ({"ticker": "AAPL"}, {"ticker": "AAPL"}, 1.0),
        ({"ticker": "AAPL"}, {"ticker": "aapl", "period": "1mo"}, 1.0),
        ({"ticker": "AAPL"}, {"ticker": "MSFT"}, 0.0),
        ({"ticker": "AAPL", "period": "1y"}, {"ticker": "AAPL", "period": "1mo"}, 0.5),
        ({"ticker": "AAPL", "period": "1y", "info": True}, {"ticker": "AAPL", "info": True}, 2 / 3),
        ({"principal": 10000}, {"principal": 10000.0}, 1.0),
        ({"rate": 7.0}, {"rate": 7.0000001}, 1.0),
        ({"rate": 7.0}, {"rate": 7.1}, 0.0),
        ({"info": True}, {"info": 1}, 0.0),
        ({"count": "10"}, {"count": 10}, 0.0),
        ({"note": None}, {}, 0.0),
        (
            {"filter": {"sector": "Tech", "size": 5}},
            {"filter": {"sector": "tech", "size": 6, "more": 1}},
            0.5,
        ),
        ({"tickers": ["AAPL", "MSFT"]}, {"tickers": ["aapl", "msft"]}, 1.0),
        ({"tickers": ["AAPL", "MSFT"]}, {"tickers": ["MSFT", "AAPL"]}, 0.0),
        ({"years": {"$gte": 10}}, {"years": 12}, 1.0),
        ({"big": 10**400}, {"big": 1.5}, 0.0),
        ({}, {"ticker": "AAPL"}, 1.0),
    ],
)
def test_argument_match_is_the_share_of_expected_fields_that_match(
    expected: dict[str, Any], given: dict[str, Any], score: float
) -> None:
    assert arguments(calls(("price", expected)), calls(("price", given))) == score


@pytest.mark.parametrize(
    ("expected", "given", "score"),
    [
        (1_000_000, 1_000_001, 1.0),  # a millionth of the larger apart, and just more
        (1_000_000, 1_000_002, 0.0),
        (-1_000_000.0, -1_000_001.0, 1.0),
        (0, 1e-12, 1.0),
        (0, 2e-12, 0.0),
        (10**400, 10**400, 1.0),
        (10**400, 10**400 + 1, 0.0),
        ([], [], 1.0),
        ([1, 2], [1, 2], 1.0),
        ([1, 2], [1, 3], 0.0),
        ([1, 2], [3, 2], 0.0),
        ([1, 2], [1, 2, 3], 0.0),
        ([1], 1, 0.0),
        ([{"a": 1, "b": 2}], [{"a": 1, "b": 2, "c": 3}], 1.0),
        ([{"a": 1, "b": 2}], [{"a": 1, "b": 3}], 0.0),  # half of an element is none
        ([[1, "A"], [2]], [[1, "a"], [2.0]], 1.0),
        ([[1], [2]], [[1], [3]], 0.0),
        ({"a": {}}, {"a": {"b": 1}}, 1.0),
        ({"a": {}}, {"a": []}, 0.0),
    ],
)
def test_a_value_matches_whole_or_by_the_mean_of_its_fields(
    expected: Any, given: Any, score: float
) -> None:
    assert score_match(expected, given) == score


def test_what_was_paired_cannot_be_changed_or_mixed_up_afterwards() -> None:
    (pair,) = pair_calls(calls("price"), calls("price"))
    with pytest.raises(FrozenInstanceError):
        pair.score = None  # type: ignore[misc, assignment]
    with pytest.raises(TypeError):
        CallPair(0, 0, 1.0)  # type: ignore[call-arg]


def test_a_call_that_was_not_made_matches_in_nothing() -> None:
    expected = calls(("price", {"ticker": "AAPL"}), ("price", {"ticker": "MSFT"}))
    assert arguments(expected, calls(("price", {"ticker": "MSFT"}))) == 0.5
    assert arguments(calls(("price", {})), calls("news")) == 0.0
    assert arguments([], calls("news")) == 1.0


def test_calls_of_one_tool_are_paired_so_that_the_total_is_best() -> None:
    # The first made call fits both; a greedy pairing would give it to the first expected call and
    # score 0.5.
    expected = calls(("price", {"ticker": "A"}), ("price", {"ticker": "A", "period": "1y"}))
    made = calls(("price", {"ticker": "A", "period": "1y"}), ("price", {"ticker": "A"}))
    assert arguments(expected, made) == 1.0
    assert [pair.made for pair in pair_calls(expected, made)] == [1, 0]


@given(CALLS, CALLS)
def test_both_metrics_stay_between_0_and_1(
    expected: list[WantedCall], made: list[WantedCall]
) -> None:
    assert 0.0 <= tool_selection(expected, made) <= 1.0
    assert 0.0 <= arguments(expected, made) <= 1.0


@given(CALLS, CALLS, st.randoms())
def test_neither_metric_cares_for_the_order_of_calls(
    expected: list[WantedCall], made: list[WantedCall], random: Any
) -> None:
    before = tool_selection(expected, made), arguments(expected, made)
    random.shuffle(expected)
    random.shuffle(made)
    assert (tool_selection(expected, made), arguments(expected, made)) == pytest.approx(before)


@given(CALLS, CALLS, CALLS)
def test_a_further_call_never_lowers_a_metric(
    expected: list[WantedCall], made: list[WantedCall], more: list[WantedCall]
) -> None:
    assert tool_selection(expected, [*made, *more]) >= tool_selection(expected, made)
    assert arguments(expected, [*made, *more]) >= arguments(expected, made) - 1e-12


@given(CALLS, CALLS, st.data())
def test_a_corrected_argument_never_lowers_the_match(
    expected: list[WantedCall], made: list[WantedCall], data: st.DataObject
) -> None:
    fields = [(place, name) for place, (_, args) in enumerate(expected) for name in args]
    before = arguments(expected, made)
    pairs = pair_calls(expected, made)
    for place, name in data.draw(st.permutations(fields)):
        if (other := pairs[place].made) is not None:
            right = {**made[other][1], name: expected[place][1][name]}
            made[other] = (made[other][0], right)
            after = arguments(expected, made)
            assert after >= before - 1e-12
            before = after


@given(CALLS, st.lists(TOOLS))
def test_whoever_does_exactly_what_is_expected_scores_1(
    expected: list[WantedCall], more: list[str]
) -> None:
    made = [*expected, *calls(*more)]
    assert tool_selection(expected, made) == 1.0
    assert arguments(expected, made) == 1.0


@given(PLAIN)
def test_every_value_matches_itself_whole(value: Any) -> None:
    assert score_match(value, value) == 1.0


@given(JSON.filter(can_be_asked_for), JSON)
def test_any_two_values_have_a_score(expected: Any, given_: Any) -> None:
    assert 0.0 <= score_match(expected, given_) <= 1.0


@given(
    st.integers(0, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(0, 1), min_size=width, max_size=width), max_size=4
        )
    )
)
def test_no_pairing_is_better_than_the_best(scores: list[list[float]]) -> None:
    chosen = best_pairs(scores)
    columns = [column for column in chosen if column is not None]
    assert len(columns) == len(set(columns)) == min(len(scores), len(scores[0]) if scores else 0)
    total = sum(scores[row][column] for row, column in enumerate(chosen) if column is not None)
    width = len(scores[0]) if scores else 0
    if len(scores) <= width:
        totals = [
            sum(scores[row][column] for row, column in enumerate(order))
            for order in permutations(range(width), len(scores))
        ]
    else:
        totals = [
            sum(scores[row][column] for column, row in enumerate(order))
            for order in permutations(range(len(scores)), width)
        ]
    assert total == pytest.approx(max(totals, default=0.0))


def test_a_hundred_calls_are_paired_in_no_time() -> None:
    expected = calls(
        *[("price", {"a": number, "b": number % 7, "c": number % 3}) for number in range(100)]
    )
    made = [*expected[::-1], *expected]
    assert arguments(expected, made) == 1.0
