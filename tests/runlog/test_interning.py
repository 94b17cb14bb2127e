"""Results of a log hold one object for equal values: memory for what differs in them, no more."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.runlog import LogWriter, TrialLine, interning, read_log
from harness.types import CheckResult
from tests.reports.sample_logs import a_conversation, a_run, must_call
from tests.test_runlog import FOOTER, HEADER, a_trial, write

FEW, MANY = 100, 300
VALUES: tuple[Any, ...] = (
    1,
    1.0,
    True,
    "1",
    0,
    0.0,
    -0.0,
    False,
    None,
    "",
    [],
    {},
    [1],
    [True],
    {"a": 1, "b": 2},
)
OTHERS = (
    {"b": 2, "a": 1},
    {"c": 1, "b": 2},
    {"a": 1.0, "b": 2},
    ["1"],
    [[1]],
    "x" * 300,
    [0] * 300,
)


def checked(key: str, **facts: Any) -> TrialLine:
    line = a_trial(key)
    check = CheckResult(kind="k", label="k", verdict="passed", **facts)
    return replace(line, run=replace(line.run, checks=(check,)))


def test_results_of_different_cases_share_what_is_equal_in_them(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [checked(key, expected={"tool": "get_order"}) for key in "ab"]
    lines = [replace(line, run=replace(line.run, suite="orders", model="large")) for line in lines]
    write(path, HEADER, *lines, FOOTER)
    first, other = read_log(path).results
    assert first.case.name != other.case.name
    assert first.checks is other.checks
    assert (first.suite, first.model) == ("orders", "large")
    assert first.suite is other.suite
    assert first.model is other.model
    assert first.usage is first.judge_usage is other.usage


@pytest.mark.parametrize("most", [interning.MOST_KNOWN, 3])
def test_values_that_are_equal_and_written_otherwise_stay_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(interning, "MOST_KNOWN", most)
    path = tmp_path / "log.jsonl"
    given = (*VALUES, *OTHERS, *VALUES)
    lines = [
        checked(str(number), actual=value, expected=[value, {"in": value}])
        for number, value in enumerate(given)
    ]
    write(path, HEADER, *lines, FOOTER)
    found = [result.checks[0] for result in read_log(path).results]
    assert [repr((one.actual, one.expected)) for one in found] == [
        repr((value, [value, {"in": value}])) for value in given
    ]


@pytest.mark.slow
def test_a_result_takes_memory_for_what_is_its_own(tmp_path: Path) -> None:
    few, many = memory_of(tmp_path, FEW), memory_of(tmp_path, MANY)
    assert (many.kept - few.kept) / (MANY - FEW) < 900


@pytest.mark.slow
def test_what_is_remembered_to_find_equal_values_does_not_grow_with_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interning, "MOST_KNOWN", 100)
    few, many = memory_of(tmp_path, FEW), memory_of(tmp_path, MANY)
    assert (many.meanwhile - few.meanwhile) / (MANY - FEW) < 450


class Memory(NamedTuple):
    """Bytes that a log takes."""

    kept: int
    """When it has been read."""
    meanwhile: int
    """Besides these, while it is read."""


def memory_of(folder: Path, cases: int) -> Memory:
    """Return what a log of so many cases takes, each with a check of its own."""
    path = folder / f"{cases}.jsonl"
    with LogWriter(path) as log:
        log.append(HEADER)
        for number in range(cases):
            run = a_run(
                f"case {number}", "passed", checks=(must_call("get_order"),), tags=("orders",)
            )
            said = a_conversation("get_order", prompt=f"Where is order {number}?")
            log.append(TrialLine(run=run, transcript=said))
    read_log(path)  # what is loaded once
    gc.collect()
    tracemalloc.start()
    try:
        found = read_log(path)
        _, most = tracemalloc.get_traced_memory()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        assert len(found.results) == cases
    finally:
        tracemalloc.stop()
    return Memory(kept, most - kept)
