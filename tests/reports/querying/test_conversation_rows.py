"""Rows of calls say what the log has of them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from harness.reports.querying.index import STORE
from tests.reports.querying.support import ask
from tests.reports.sample_logs import a_conversation, a_log, a_run

WAITS = "select phase, n, waited_s from calls order by phase, n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of a model that makes two calls after one of the case's setup."""
    said = a_conversation("get_order", "get_orders")
    first, second = said.tool_calls
    said = replace(
        said,
        tool_calls=(first, replace(second, waited_s=2.5)),
        setup_calls=(replace(first, reply=0, waited_s=0.75),),
    )
    return a_log(tmp_path, [(a_run("it"), said)]).path


def test_a_call_says_how_long_it_waited_for_its_turn_at_the_server(log: Path) -> None:
    assert ask(log, WAITS) == [("model", 1, 0.0), ("model", 2, 2.5), ("setup", 1, 0.75)]


def test_an_index_from_before_a_column_was_added_is_made_anew(log: Path) -> None:
    before = ask(log, WAITS)
    place = log.with_name(STORE)
    with closing(sqlite3.connect(place)) as db, db:
        db.execute("ALTER TABLE calls DROP COLUMN waited_s")
    time = log.stat().st_mtime_ns
    os.utime(place, ns=(time, time))
    assert ask(log, WAITS) == before
