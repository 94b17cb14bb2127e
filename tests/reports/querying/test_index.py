"""The index holds what the log says now, whatever has become of the one that was there."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.reports.querying import index as indexing
from harness.reports.querying import texts
from harness.reports.querying.index import STORE, fill_store_meanwhile, open_log_index
from harness.runlog import Footer, LogWriter, TrialLine
from tests.reports.querying.support import ask, assert_equals_reports
from tests.reports.sample_logs import a_conversation, a_run, an_ordinary_log
from tests.web.support import WAIT_S

TRIALS = "select count(*) from trials"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return an_ordinary_log(tmp_path).path


def append(log: Path, case: str, status: str = "passed") -> None:
    with LogWriter(log) as writer:
        writer.append(
            TrialLine(run=a_run(case, status), transcript=a_conversation("get_order"))  # type: ignore[arg-type]
        )


def read_in(log: Path) -> list[int]:
    """Return where each line ends that is read to ask a question."""
    told: list[int] = []
    with open_log_index(log, told.append):
        return told


def test_a_log_is_read_once(log: Path) -> None:
    assert len(read_in(log)) == len(log.read_bytes().splitlines()) - 1
    assert read_in(log) == []


def test_of_a_log_that_has_grown_only_the_new_lines_are_read(log: Path) -> None:
    assert ask(log, TRIALS) == [(8,)]
    append(log, "new")
    append(log, "newer", "failed")
    assert len(read_in(log)) == 2
    assert ask(log, TRIALS) == [(10,)]
    assert_equals_reports(log)


def test_an_index_that_grew_line_by_line_equals_one_made_at_once(log: Path, tmp_path: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    grown = tmp_path / "grown" / "log.jsonl"
    grown.parent.mkdir()
    for line in lines:
        with grown.open("ab") as file:
            file.write(line)
        assert_equals_reports(grown)
    for table in ("runs", "cases", "trials", "checks", "calls", "replies", "messages"):
        assert sorted(ask(grown, f"select * from {table}"), key=repr) == sorted(
            ask(log, f"select * from {table}"), key=repr
        )


def test_half_a_line_at_the_end_waits_for_its_other_half(log: Path) -> None:
    append(log, "new")
    whole = log.read_bytes()
    log.write_bytes(whole[:-20])
    assert ask(log, TRIALS) == [(8,)]
    log.write_bytes(whole)
    assert ask(log, TRIALS) == [(9,)]


def test_a_log_that_was_changed_before_its_end_is_read_anew(log: Path) -> None:
    assert ask(log, "select count(*) from trials where model = 'm'") == [(8,)]
    log.write_bytes(log.read_bytes().replace(b'"model":"m"', b'"model":"n"'))
    append(log, "new")
    assert ask(log, "select count(*) from trials where model = 'n'") == [(8,)]
    assert_equals_reports(log)


def test_a_log_that_was_cut_is_read_anew(log: Path) -> None:
    assert ask(log, TRIALS) == [(8,)]
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:4]))
    assert ask(log, TRIALS) == [(3,)]


def damages() -> Iterator[tuple[str, object]]:
    yield "empty", lambda data: b""
    yield "no database", lambda data: b"x" * len(data)
    yield "cut off", lambda data: data[: len(data) // 2]
    yield "overwritten in the middle", lambda data: data[:9000] + b"\0" * 5000 + data[14000:]
    yield "one byte", lambda data: data[:-50] + bytes([data[-50] ^ 1]) + data[-49:]


@pytest.mark.parametrize(
    "damage", [one for _, one in damages()], ids=[name for name, _ in damages()]
)
def test_a_damaged_index_is_made_anew(log: Path, damage: object) -> None:
    before = ask(log, "select * from trials")
    place = log.with_name(STORE)
    place.write_bytes(damage(place.read_bytes()))  # type: ignore[operator]
    assert ask(log, "select * from trials") == before
    assert read_in(log) == []


def test_an_index_of_another_version_is_made_anew(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(indexing, "_FORM", 0)
        assert read_in(log)
    assert read_in(log)
    assert read_in(log) == []


def test_an_index_that_somebody_has_written_to_is_made_anew(log: Path) -> None:
    ask(log, TRIALS)
    with closing(sqlite3.connect(log.with_name(STORE))) as db, db:
        db.execute("UPDATE trials SET status = 'passed'")
    assert ask(log, "select count(*) from trials where status = 'passed'") == [(3,)]


def test_an_index_with_a_view_in_the_place_of_a_table_is_not_trusted(log: Path) -> None:
    ask(log, TRIALS)
    place = log.with_name(STORE)
    with closing(sqlite3.connect(place)) as db, db:
        db.execute("ALTER TABLE trials RENAME TO kept")
        db.execute("CREATE VIEW trials AS SELECT * FROM kept WHERE status = 'passed'")
    time = log.stat().st_mtime_ns
    os.utime(place, ns=(time, time))
    assert ask(log, TRIALS) == [(8,)]


def test_a_folder_that_cannot_be_written_gets_a_passing_index(log: Path) -> None:
    log.with_name(STORE).mkdir()  # root may write anywhere
    with open_log_index(log) as index:
        assert index.parent != log.parent
    assert not index.exists()
    assert_equals_reports(log)


def test_nothing_is_left_of_an_index_that_could_not_be_finished(log: Path) -> None:
    class Stopped(Exception):
        pass

    def stop(_: int) -> None:
        raise Stopped

    with pytest.raises(Stopped), open_log_index(log, stop):
        pass
    assert [one.name for one in log.parent.iterdir()] == ["log.jsonl"]


def test_a_draft_of_a_process_that_was_killed_is_removed_and_one_under_way_is_not(
    log: Path,
) -> None:
    dead = log.with_name(f".{STORE}.dead")
    dead.write_bytes(b"")
    alive, lock = indexing._create_draft(log.parent)
    assert not dead.exists()
    ask(log, TRIALS)
    assert alive.exists()
    os.close(lock)


def test_a_folder_that_was_copied_with_its_times_keeps_its_index(log: Path, tmp_path: Path) -> None:
    ask(log, TRIALS)
    copied = tmp_path / "copied"
    copied.mkdir()
    for one in (log, log.with_name(STORE)):
        shutil.copy2(one, copied)
    assert read_in(copied / "log.jsonl") == []


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Whether the first trial of a log that is being written has been read into its store."""
    read = threading.Event()

    def add_text(self: texts.Packer, at: int, said: str) -> None:
        added(self, at, said)
        read.set()

    added = texts.Packer.add_text
    monkeypatch.setattr(texts.Packer, "add_text", add_text)
    monkeypatch.setattr(indexing, "_SMALL", 0)
    monkeypatch.setattr(indexing, "_PACE_S", 0.001)
    return read


def test_a_log_is_read_while_it_is_written_and_only_the_rest_at_its_end(
    log: Path, followed: threading.Event
) -> None:
    with fill_store_meanwhile(log):
        assert followed.wait(WAIT_S)
        append(log, "new", "failed")
    with LogWriter(log) as writer:
        writer.append(Footer(finished_at="2026-01-01T00:00:09.000Z", elapsed_s=9.0))
    assert 0 < len(read_in(log)) < len(log.read_bytes().splitlines()) - 1
    assert_equals_reports(log)


def test_a_store_that_was_begun_while_a_run_went_on_is_not_trusted_before_it_is_finished(
    log: Path, followed: threading.Event
) -> None:
    with fill_store_meanwhile(log):
        assert followed.wait(WAIT_S)
    assert log.with_name(STORE).exists()
    assert_equals_reports(log)


_KILLED = """
import sys, time
from pathlib import Path
from harness.reports.querying import index, texts

index._SMALL, index._PACE_S, added = 0, 0.001, texts.Packer.add_text
texts.Packer.add_text = lambda *given: (added(*given), print("read", flush=True))
with index.fill_store_meanwhile(Path(sys.argv[1])):
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_gets_its_store_from_its_log_when_it_is_opened(log: Path) -> None:
    ask(log, TRIALS)
    append(log, "while it was written")
    command = [sys.executable, "-c", _KILLED, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"read\n"
        process.kill()
    assert [one.name for one in log.parent.glob(f".{STORE}.*")]
    with log.open("ab") as file:
        file.write(b'{"run": {"key": "torn')
    assert_equals_reports(log)
    assert sorted(one.name for one in log.parent.iterdir()) == ["log.jsonl", STORE]
    assert "while it was written" in {row[0] for row in ask(log, "select [case] from trials")}


def test_of_a_run_that_failed_no_store_is_kept(log: Path, followed: threading.Event) -> None:
    def fail() -> None:
        assert followed.wait(WAIT_S)
        raise LookupError

    with pytest.raises(LookupError), fill_store_meanwhile(log):
        fail()
    assert [one.name for one in log.parent.iterdir()] == ["log.jsonl"]


def test_for_a_small_log_nothing_is_done_before_its_end(log: Path) -> None:
    with fill_store_meanwhile(log):
        append(log, "new")
    assert [one.name for one in log.parent.iterdir()] == ["log.jsonl"]
