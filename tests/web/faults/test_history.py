"""The list of runs comes from the stores beside the logs, which are never a second truth."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from harness.reports.querying.index import STORE
from harness.runlog.folders import stat_log
from harness.web import catalog
from harness.web.catalog import Catalog, RunFilter
from tests.reports.logs import a_log, a_run
from tests.web.support import Page

ALL = RunFilter()


def some_runs(folder: Path, number: int) -> Path:
    for place in range(number):
        a_log(folder / f"20260101T0000{place:02}Z-shop-a" / "log.jsonl", a_run("one"))
    return folder


def results(found: catalog.MatchingRuns) -> list[str]:
    return [entry["result"] for entry in found.entries]


def test_a_run_is_read_once_and_then_taken_from_its_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_runs(tmp_path, 3)
    first = Catalog(tmp_path).find(ALL, 50)
    assert results(first) == ["1 passed"] * 3
    read: list[Path] = []
    monkeypatch.setattr(catalog, "_read_entry", lambda log, _: read.append(log))
    again = Catalog(tmp_path)  # of another process
    assert again.find(ALL, 50) == again.find(ALL, 50) == first
    assert read == []


def test_a_log_that_has_changed_is_read_again(tmp_path: Path) -> None:
    (folder,) = some_runs(tmp_path, 1).iterdir()
    known = Catalog(tmp_path)
    assert results(known.find(ALL, 50)) == ["1 passed"]
    a_log(folder / "log.jsonl", a_run("one", "failed"), a_run("two"))
    for one in (known, Catalog(tmp_path)):
        assert results(one.find(ALL, 50)) == ["1 passed, 1 failed"]


def test_of_thousands_of_runs_only_some_are_looked_at_and_a_change_is_found_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "LOOKS", 3)
    known = Catalog(some_runs(tmp_path, 10))
    assert len(known.find(ALL, 50).entries) == 10
    looked: list[str] = []

    def look(runs: Path, name: str) -> os.stat_result | None:
        looked.append(name)
        return stat_log(runs, name)

    monkeypatch.setattr(catalog, "stat_log", look)
    failed = RunFilter(result="failed")
    assert known.find(failed, 50).entries == []
    assert len(looked) == 3
    oldest = min(tmp_path.iterdir())
    a_log(oldest / "log.jsonl", a_run("one", "failed"))
    found = [known.find(failed, 50).entries for _ in range(4)]
    assert [entry["id"] for entry in found[-1]] == [oldest.name]
    # One that is shown, removed or new is never out of date.
    (oldest / "log.jsonl").unlink()
    a_log(oldest / "log.jsonl", a_run("one"), a_run("two"))
    assert known.find(failed, 50).entries == []
    shutil.rmtree(oldest)
    a_log(tmp_path / "20260301T000000Z-new" / "log.jsonl", a_run("one", "failed"))
    assert [entry["id"] for entry in known.find(failed, 50).entries] == ["20260301T000000Z-new"]


def test_a_folder_that_cannot_be_written_is_listed_all_the_same(tmp_path: Path) -> None:
    (folder,) = some_runs(tmp_path, 1).iterdir()
    (folder / STORE).mkdir()
    assert results(Catalog(tmp_path).find(ALL, 50)) == ["1 passed"]


def test_one_request_reads_some_logs_and_says_how_many_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "MOST_READ", 4)
    known = Catalog(some_runs(tmp_path, 10))
    wanted = RunFilter(suite="SHOP", model="m", result="passed")
    asked = [known.find(wanted, 50) for _ in range(4)]
    assert [(len(one.entries), one.unread, one.known) for one in asked] == [
        (4, 6, 10), (8, 2, 10), (10, 0, 10), (10, 0, 10),
    ]  # fmt: skip
    assert known.find(RunFilter(suite="other"), 50).entries == []


def test_a_search_ends_between_two_logs_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    def go_on() -> None:
        if list(tmp_path.glob(f"*/{STORE}")):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        Catalog(some_runs(tmp_path, 3)).find(ALL, 50, go_on)
    assert len(list(tmp_path.glob(f"*/{STORE}"))) == 1


def test_a_search_ends_in_the_midst_of_a_log(tmp_path: Path) -> None:
    asked = []

    def go_on() -> None:
        asked.append(1)
        if len(asked) > 1:  # the first is before the run
            raise LookupError

    with pytest.raises(LookupError):
        Catalog(some_runs(tmp_path, 1)).find(ALL, 50, go_on)
    assert list(tmp_path.glob(f"*/{STORE}")) == []


def test_the_page_lists_what_the_stores_say(page: Page) -> None:
    folder = page.project.folder / ".harness/runs/20250101T000000Z-indexed-abc"
    a_log(folder / "log.jsonl", a_run("one", suite="indexed"))
    found = page.client.get("/evaluations?suite=INDEXED").json()
    assert [run["id"] for run in found["runs"]] == [folder.name]
    assert found["unread"] == 0
    assert (folder / STORE).is_file()
