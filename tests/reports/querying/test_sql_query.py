"""A question only reads, within its time; a mistake in it is told with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.base.errors import HarnessError, UsageError
from harness.reports.querying.index import open_log_index, read_index_facts
from harness.reports.querying.sql_query import QueryAnswer, answer_query
from tests.reports.sample_logs import an_ordinary_log

ENDLESS = "with recursive a(n) as (select 1 union all select n + 1 from a) select count(*) from a"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    log = an_ordinary_log(tmp_path_factory.mktemp("run")).path
    with open_log_index(log) as place:
        yield read_index_facts(place, log)[0], place


@contextmanager
def answer(index: tuple[str, Path], sql: str, timeout_s: float = 60) -> Iterator[QueryAnswer]:
    with answer_query([index], sql, timeout_s) as found:
        yield found


def fault(index: tuple[str, Path], sql: str, timeout_s: float = 60) -> str:
    with pytest.raises(HarnessError) as caught, answer(index, sql, timeout_s) as found:
        list(found.rows)
    return str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "delete from trials",
        "update runs set passed = 9",
        "insert into trials (run) values ('x')",
        "create table x (y)",
        "create temp table x (y)",
        "drop view trials",
        "drop table r0.trials",
        "attach '/tmp/other.sqlite' as other",
        "detach r0",
        "pragma query_only",
        "pragma writable_schema = 1",
        "select * from pragma_database_list",
        "vacuum into '/tmp/stolen.sqlite'",
        "begin",
        "select * from sqlite_master",
        "select * from r0._state",
        "select load_extension('/tmp/x.so')",
    ],
)
def test_whatever_is_more_than_reading_is_refused(index: tuple[str, Path], sql: str) -> None:
    before = index[1].read_bytes()
    assert fault(index, sql).startswith("a question only reads")
    assert index[1].read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("select statu from trials", "SQL, line 1, column 8: there is no column 'statu'"),
        ("select 'statu', statu from trials", "line 1, column 17: there is no column"),
        ("select 1\nfrom trails", "line 2, column 6: there is no table 'trails'"),
        ("select form form trials", "line 1, column 18: 'trials' cannot stand here"),
        ("select ) from trials", "line 1, column 8: ')' cannot stand here"),
        ("select count(*) from", "line 1, column 21: the question ends too early"),
        ("select shuffle(1)", "line 1, column 8: SQLite has no function 'shuffle'"),
        ("select abs(1, 2)", "line 1, column 8: wrong number of arguments to function"),
        (
            "select status from trials join cases using (run)",
            "line 1, column 8: several tables have a column 'status'",
        ),
        ("select 1; select 2", "a question is a single statement"),
        ("", "the question is empty"),
        ("-- nothing", "the question is empty"),
        ("select '\0'", "a character that SQL cannot hold"),
        ("select '\ud800'", "a character that SQL cannot hold"),
        ("select abs(-9223372036854775808)", "SQL: integer overflow"),
    ],
)
def test_a_mistake_is_told_with_its_place(index: tuple[str, Path], sql: str, words: str) -> None:
    assert words in fault(index, sql)


def test_a_name_that_is_not_there_is_told_with_the_nearest_and_all_others(
    index: tuple[str, Path],
) -> None:
    column = fault(index, "select latency from trials")
    assert "Did you mean 'latency_s'?" in column
    assert "\n  trials: run, trial_id, suite, case, model" in column
    assert "checks:" not in column
    table = fault(index, "select * from trial")
    assert "Did you mean 'trials'?\n  Tables: runs, cases, trials, checks" in table


def test_a_question_without_end_is_given_up(index: tuple[str, Path]) -> None:
    assert "took longer than 0.2 s; --timeout" in fault(index, ENDLESS, 0.2)


def test_a_value_without_bound_is_refused(index: tuple[str, Path]) -> None:
    assert "too big" in fault(index, "select zeroblob(2000000000)")


def test_columns_of_one_name_are_told_apart(index: tuple[str, Path]) -> None:
    with answer(index, "select 1 as n, 2 as n, 3 as n") as found:
        assert found.columns == ("n", "n_2", "n_3")


def test_json_is_read_by_functions(index: tuple[str, Path]) -> None:
    sql = "select sum(value) from trials, json_each(outcomes) where key = 'ok'"
    assert "several tables have a column 'key'" in fault(index, sql)
    sql = "select one.key, sum(one.value) from trials, json_each(outcomes) one group by 1"
    with answer(index, sql) as found:
        assert list(found.rows) == [("denied", 1), ("ok", 4)]


def test_several_runs_are_asked_together(index: tuple[str, Path]) -> None:
    other = ("it's another", index[1])
    with answer_query([index, other], "select run, count(*) from trials group by run", 60) as found:
        assert sorted(found.rows) == [(index[0], 8), ("it's another", 8)]
    joined = "select count(*) from trials join checks using (run, trial_id)"
    with answer_query([index, other], joined, 60) as found:
        assert list(found.rows) == [(4,)]


def test_more_runs_than_can_be_asked_together_are_refused(index: tuple[str, Path]) -> None:
    with pytest.raises(UsageError, match="at most 10 runs, and 11 are named"):
        answer_query([index] * 11, "select 1", 60).__enter__()
