"""Which run ``--resume`` means, and which it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.runlog.folders import LATEST
from harness.runner.runs.resume import find_resumable
from tests.reports.run_logs import write_log


def a_run(runs: Path, name: str, suite: str = "shop", **settings: Any) -> Path:
    suites = {suite: {"file": f"evals/{suite}.yml"}}
    return write_log(
        runs / name / "log.jsonl",
        {"a": "p"},
        suite=suite,
        run_id=name,
        suites=suites,
        settings=settings,
    ).path


def test_resume_means_the_newest_run_and_not_what_was_graded_or_probed_since(
    tmp_path: Path,
) -> None:
    first = a_run(tmp_path, "20261121T191433Z-shop-aaaaaa")
    a_run(tmp_path, "20261121T191434Z-shop-bbbbbb", graded_from="20261121T191433Z-shop-aaaaaa")
    a_run(tmp_path, "20261121T191435Z-shop-cccccc", probe=True)
    empty = tmp_path / "20261121T191436Z-shop-dddddd" / "log.jsonl"
    empty.parent.mkdir()
    empty.touch()
    assert find_resumable(LATEST, (), tmp_path) == first


@pytest.mark.parametrize("name", ["shop", "evals/shop.yml", "evals", "evals/"])
def test_resume_means_the_newest_run_of_the_suite_that_is_named(tmp_path: Path, name: str) -> None:
    first = a_run(tmp_path, "20261121T191433Z-shop-aaaaaa")
    other = a_run(tmp_path, "20261121T191434Z-other-bbbbbb", suite="other")
    assert find_resumable(LATEST, (), tmp_path) == other
    assert find_resumable(LATEST, (name,), tmp_path) == (
        other if name.startswith("evals") and "shop" not in name else first
    )


def test_where_nothing_can_be_resumed_it_is_said_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run to resume"):
        find_resumable(LATEST, (), tmp_path)
    a_run(tmp_path, "20261121T191434Z-shop-bbbbbb", graded_from="gone")
    a_run(tmp_path, "20261121T191435Z-other-cccccc", suite="other")
    with pytest.raises(UsageError, match=r"of shop:\n.*is of other\n.*was made by harness grade"):
        find_resumable(LATEST, ("shop",), tmp_path)


def test_a_graded_run_that_is_named_is_refused_with_the_run_that_was_meant(tmp_path: Path) -> None:
    a_run(tmp_path, "20261121T191434Z-shop-bbbbbb", graded_from="20261121T191433Z-shop-aaaaaa")
    with pytest.raises(UsageError, match="harness evals --resume 20261121T191433Z-shop-aaaaaa"):
        find_resumable("20261121T191434Z", (), tmp_path)
