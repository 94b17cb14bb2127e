"""Blocks of results are a sequence like a tuple."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runlog.interning import ResultPacker
from harness.runlog.on_disk.result_storage import ResultBlocks
from harness.types import TrialResult
from tests.runlog.on_disk.made import VALUES, a_result, results

MANY = 1_000
"""Results of several blocks."""


def blocks(found: list[TrialResult], folder: Path) -> ResultBlocks:
    return ResultBlocks(found, folder, ResultPacker())


@given(st.lists(results, max_size=20), st.slices(20))
def test_it_has_what_it_was_made_of(found: list[TrialResult], part: slice) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = blocks(found, Path(folder))
        assert [repr(one) for one in made] == [repr(one) for one in found]
        assert made == tuple(found)
        assert made != (*found, a_result("more"))
        assert made[part] == tuple(found[part])


def test_places_of_any_block_are_read(tmp_path: Path) -> None:
    found = [
        a_result(str(number), trial=number, value=VALUES[number % len(VALUES)])
        for number in range(MANY)
    ]
    made = blocks(found, tmp_path)
    assert [repr(made[place]) for place in range(MANY - 1, -1, -1)] == list(map(repr, found[::-1]))
    assert made[-1] == found[-1]
    for place in (MANY, -MANY - 1):
        with pytest.raises(IndexError):
            made[place]


def test_parts_are_the_results_at_several_places(tmp_path: Path) -> None:
    found = [a_result(str(number)) for number in range(MANY)]
    part = blocks(found, tmp_path).select_places(range(5, 300), range(7, 8), range(990, 1_000))
    expected = [*found[5:300], found[7], *found[990:]]
    assert (len(part), list(part), part[-1]) == (len(expected), expected, expected[-1])
    assert part[294:297] == tuple(expected[294:297])
    with pytest.raises(IndexError):
        part[len(expected)]


def test_trials_of_a_case_share_what_is_equal(tmp_path: Path) -> None:
    first, second = blocks([a_result(key, value=[1]) for key in "ab"], tmp_path)
    assert first.case is second.case
    assert first.checks is second.checks


def test_others_are_told_apart_by_more_than_equality(tmp_path: Path) -> None:
    made = blocks([a_result("a", value=1), a_result("b", value=True)], tmp_path)
    assert [one.case.metadata["value"] for one in made] == [1, True]
    assert [type(one.checks[0].actual) for one in made] == [int, bool]
