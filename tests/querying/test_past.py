"""The list of runs says the same from an index as from a log, and reads a large log once."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.querying.index import NAME
from harness.querying.past import past_runs_by_index
from harness.reports.sections.run_list import past_runs
from harness.types import Usage
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import an_ordinary_log


def logs(folder: Path) -> list[Path]:
    ordinary = an_ordinary_log(folder / "a").path
    unpriced = write_log(folder / "b" / "log.jsonl", {"x": "pf"}, usage=Usage(cost_usd=None))
    cut_off = write_log(folder / "c" / "log.jsonl", {"x": "pp"}, finished=False, planned=4)
    damaged = an_ordinary_log(folder / "d").path
    damaged.write_bytes(damaged.read_bytes().replace(b'"index":0', b'"index":,', 1))
    nothing = folder / "e" / "log.jsonl"
    nothing.parent.mkdir()
    nothing.write_text("no log\n")
    return [ordinary, unpriced.path, cut_off.path, damaged, nothing, folder / "f" / "log.jsonl"]


def test_it_says_the_same_as_the_logs(tmp_path: Path) -> None:
    found = logs(tmp_path)
    assert list(past_runs_by_index(found, worth=0)) == list(past_runs(found))


@pytest.mark.parametrize("worth", [0, 1_000_000])
def test_only_a_large_log_gets_an_index(tmp_path: Path, worth: int) -> None:
    log = an_ordinary_log(tmp_path).path
    assert len(list(past_runs_by_index([log], worth))) == 1
    assert log.with_name(NAME).exists() == (worth == 0)
