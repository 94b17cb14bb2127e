"""``harness query``: a run in SQL, as a table, JSON, CSV or Parquet."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.errors import UsageError
from harness.cli.commands.query import command
from harness.reports.querying.index import STORE
from harness.reports.querying.tables import TABLES
from tests.reports.sample_logs import HOSTILE, a_hostile_log, an_ordinary_log

BY_STATUS = "select status, count(*) as n from trials group by status order by status"


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(an_ordinary_log(tmp_path).path)


def query(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False, standalone_mode=False)


def test_it_prints_a_table(log: str) -> None:
    assert query(log, BY_STATUS).stdout.splitlines() == [
        "status     n",
        "cancelled  1",
        "error      1",
        "failed     2",
        "passed     3",
        "skipped    1",
    ]


def test_it_prints_json(log: str) -> None:
    told = json.loads(query(log, BY_STATUS, "--json-output").stdout)
    assert told["status"] == "ok"
    assert told["result"]["columns"] == ["status", "n"]
    assert told["result"]["rows"][2] == {"status": "failed", "n": 2}
    assert told["result"]["left_out"] is False


def test_it_prints_csv(log: str) -> None:
    assert query(log, BY_STATUS, "--csv").stdout.splitlines()[:2] == ["status,n", "cancelled,1"]


def test_csv_in_a_file_begins_with_what_excel_looks_for(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ends.csv"
    with path.open("w", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)
        command([log, BY_STATUS, "--csv"], standalone_mode=False)
    assert path.read_text("utf-8").startswith("\ufeffstatus,n\n")
    with path.open("a", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)
        command([log, BY_STATUS, "--csv"], standalone_mode=False)
    assert path.read_text("utf-8").count("\ufeff") == 1


@pytest.mark.parametrize("form", ["--json-output", "--csv", ""])
def test_it_says_that_rows_were_left_out(log: str, form: str) -> None:
    shown = query(log, BY_STATUS, "--limit", "2", *filter(None, [form]))
    assert shown.stderr == (
        "Only the first 2 rows are shown, and others left out: --limit N shows more.\n"
    )
    assert "failed" not in shown.stdout
    whole = query(log, BY_STATUS, "--limit", "5", *filter(None, [form]))
    assert whole.stderr == ""
    if form == "--json-output":
        assert json.loads(shown.stdout)["result"]["left_out"] is True


def test_the_question_may_stand_in_a_file(log: str, tmp_path: Path) -> None:
    (tmp_path / "question.sql").write_text(BY_STATUS)
    assert query(log, f"@{tmp_path}/question.sql").stdout == query(log, BY_STATUS).stdout
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        query(log, "@missing.sql")


def test_no_text_of_a_model_does_harm(tmp_path: Path) -> None:
    log = str(a_hostile_log(tmp_path, big=False).path)
    sql = "select answer, problem from trials union all select text, arguments from calls"
    table = query(log, sql).stdout
    assert "\x1b" not in table
    assert "\u202e" not in table
    assert (
        len(table.splitlines())
        == len(json.loads(query(log, sql, "--json-output").stdout)["result"]["rows"]) + 1
    )
    cells = [
        cell for row in csv.reader(io.StringIO(query(log, sql, "--csv").stdout)) for cell in row
    ]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert HOSTILE


def test_the_schema_names_every_column_with_its_meaning() -> None:
    shown = query("--schema").stdout
    for table in TABLES:
        assert f"{table.name}: {table.doc}" in shown
        assert all(f"  {column.name} " in shown and column.doc in shown for column in table.columns)
    tables = json.loads(query("--schema", "--json-output").stdout)["result"]["tables"]
    assert tables["calls"]["columns"]["duration_s"] == {
        "kind": "REAL",
        "doc": "Seconds until the call was answered.",
    }


@pytest.mark.parametrize("given", [(), ("latest",)])
def test_without_a_question_it_says_what_is_needed(given: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="a run and a question are needed"):
        query(*given)


def test_two_forms_at_once_are_refused(log: str) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        query(log, BY_STATUS, "--csv", "--json-output")


def test_damaged_lines_are_reported_each_time(log: str) -> None:
    path = Path(log)
    path.write_bytes(path.read_bytes().replace(b'"trial":1', b'"trial":,', 1))
    for _ in range(2):
        told = query(log, "select cancelled from runs").stderr
        assert told.startswith(f"Warning: {path}:2: this line of the run log is damaged")


def test_an_index_that_turns_out_to_be_damaged_is_made_anew(log: str) -> None:
    before = query(log, "select * from trials").stdout
    place = Path(log).with_name(STORE)
    data, facts = place.read_bytes(), place.stat()
    place.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    os.utime(place, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
    assert query(log, "select * from trials").stdout == before


def test_it_writes_parquet(log: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    out = tmp_path / "it's.parquet"
    sql = 'select *, cost_usd as "a ""b""" from trials'
    assert query(log, sql, "--parquet", str(out)).stdout == f"8 rows in {out}\n"
    with duckdb.connect() as db:
        read = db.read_parquet(str(out))
        kinds = dict(zip(read.columns, map(str, read.types), strict=True))
        assert read.filter("status = 'failed'").count("*").fetchall() == [(2,)]
    assert (kinds["trial"], kinds["latency_s"], kinds["status"]) == ("BIGINT", "DOUBLE", "VARCHAR")
    assert 'a "b"' in kinds


@pytest.mark.slow
def test_the_command_that_writes_parquet_says_nothing_else(log: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    out = tmp_path / "x.parquet"
    given = (sys.executable, "-m", "harness.cli", "query", log, BY_STATUS, "--parquet", str(out))
    ended = subprocess.run(given, capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == (f"5 rows in {out}\n", "")


def test_parquet_without_duckdb_names_what_to_install(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"pip install 'harness-for-mcp\[parquet\]'"):
        query(log, BY_STATUS, "--parquet", str(tmp_path / "x.parquet"))


def test_a_parquet_file_that_cannot_be_written_is_an_error(log: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    with pytest.raises(UsageError, match="cannot be written"):
        query(log, BY_STATUS, "--parquet", str(tmp_path / "none" / "x.parquet"))
