"""Runs that are shown side by side: of many tests those whose results differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.types import Status
from harness.web.run_view import RunView, ensure_view
from harness.web.view.side_by_side import read_side_by_side
from tests.reports.sample_logs import a_conversation, a_log, a_run

ENDED: dict[str, tuple[Status, Status]] = {
    "same": ("passed", "passed"),
    "failed twice": ("failed", "failed"),
    "worse": ("passed", "failed"),
    "as good": ("passed", "passed"),
}


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> list[RunView]:
    """Two runs of the same four tests, of which the second has a fifth."""
    found = []
    for run in (0, 1):
        ended = {name: statuses[run] for name, statuses in ENDED.items()}
        if run == 1:
            ended["new"] = "passed"
        trials = [(a_run(name, status), a_conversation()) for name, status in ended.items()]
        folder: Path = tmp_path_factory.mktemp(f"run{run}")
        found.append(ensure_view(a_log(folder, trials).path))
    return found


def test_all_tests_of_small_runs_are_shown_in_the_order_of_their_suites(
    views: list[RunView],
) -> None:
    found = read_side_by_side(views)
    assert [[cell["case"] for cell in cells] for cells in found.cells] == [
        list(ENDED),
        [*ENDED, "new"],
    ]
    assert (found.shown, found.tests) == (5, 5)


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (2, [["worse"], ["worse", "new"]]),
        (3, [["failed twice", "worse"], ["failed twice", "worse", "new"]]),
    ],
)
def test_of_many_tests_those_that_differ_come_first_and_then_those_that_did_not_pass(
    views: list[RunView], most: int, shown: list[list[str]]
) -> None:
    found = read_side_by_side(views, most)
    assert [[cell["case"] for cell in cells] for cells in found.cells] == shown
    assert (found.shown, found.tests) == (most, 5)
