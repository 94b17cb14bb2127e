"""What is joined, and what is refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.runner.runs.shard import merge_logs
from tests.reports.run_logs import write_log


def test_a_run_is_not_joined_with_itself(tmp_path: Path) -> None:
    log = write_log(tmp_path / "one" / "log.jsonl", {"a": "p", "b": "f"})
    with pytest.raises(UsageError, match="is given twice: s/a, trial 1 with m"):
        merge_logs([log, log], tmp_path / "all" / "log.jsonl")
    assert not (tmp_path / "all").exists()


def test_runs_that_hold_the_same_trial_are_not_joined(tmp_path: Path) -> None:
    one = write_log(tmp_path / "one" / "log.jsonl", {"a": "p", "b": "f"}, run_id="one")
    two = write_log(tmp_path / "two" / "log.jsonl", {"b": "p", "c": "p"}, run_id="two")
    with pytest.raises(
        UsageError, match="runs one and two hold the same trial: s/b, trial 1 with m"
    ):
        merge_logs([one, two], tmp_path / "all" / "log.jsonl")
    assert not (tmp_path / "all").exists()
