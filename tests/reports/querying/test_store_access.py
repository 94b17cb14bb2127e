"""The list of runs says the same from an index as from a log, and reads a large log once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.judging.exit_codes import EXIT_INVALID, EXIT_PASSED
from harness.reports.build import past_runs
from harness.reports.querying import index as indexing
from harness.reports.querying.index import STORE
from harness.reports.querying.store_access import past_runs_by_index
from harness.types import Usage
from tests.often import often
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import an_ordinary_log


def logs(folder: Path) -> list[Path]:
    ordinary = an_ordinary_log(folder / "a").path
    unpriced = write_log(folder / "b" / "log.jsonl", {"x": "pf"}, usage=Usage(cost_usd=None))
    cut_off = write_log(folder / "c" / "log.jsonl", {"x": "pp"}, finished=False, planned=4)
    damaged = an_ordinary_log(folder / "d").path
    damaged.write_bytes(damaged.read_bytes().replace(b'"trial":1', b'"trial":,', 1))
    nothing = folder / "e" / "log.jsonl"
    nothing.parent.mkdir()
    nothing.write_text("no log\n")
    return [ordinary, unpriced.path, cut_off.path, damaged, nothing, folder / "f" / "log.jsonl"]


def test_it_says_the_same_as_the_logs(tmp_path: Path) -> None:
    found = logs(tmp_path)
    assert list(past_runs_by_index(found, always)) == list(past_runs(found))


def test_only_a_large_log_gets_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = an_ordinary_log(tmp_path).path
    assert len(list(past_runs_by_index([log]))) == 1
    assert not log.with_name(STORE).exists()
    monkeypatch.setattr(indexing, "WORTH_INDEXING", 100)
    assert len(list(past_runs_by_index([log]))) == 1
    assert log.with_name(STORE).exists()


WITH_LITTLE_ROOM = """
import resource, sys
from harness.reports.querying import index
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
index.WORTH_INDEXING = 100
from harness.cli import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "code", "out", "err"),
    often(
        [
            (["runs"], EXIT_PASSED, "3 passed, 2 failed, 1 error", ""),
            (["compare", "a", "b"], EXIT_PASSED, "a", ""),
            (["query", "a", "select 1"], EXIT_INVALID, "", "cannot be written: "),
        ],
        1,
    ),
)
def test_without_room_for_an_index_a_list_and_a_comparison_do_without(
    tmp_path: Path, arguments: list[str], code: int, out: str, err: str
) -> None:
    runs = tmp_path / ".harness" / "runs"
    for name in ("a", "b"):
        an_ordinary_log(runs / name)
    ended = subprocess.run(
        [sys.executable, "-c", WITH_LITTLE_ROOM, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    assert out in ended.stdout
    assert err in ended.stderr
    assert "Traceback" not in ended.stderr
    assert [one.name for one in (runs / "a").iterdir()] == ["log.jsonl"]


def always(log: Path) -> bool:
    return bool(log.stat())
