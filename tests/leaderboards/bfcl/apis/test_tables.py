from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.leaderboards.bfcl.apis.tables import (
    LONG_CONTEXT,
    SOURCES,
    parse_constants,
    read_tables,
)
from tests.judging.checks.strategies import JSON


def test_literals_are_kept_and_what_is_computed_is_not() -> None:
    source = (
        "A = {('x', 'y'): 1}\nB: set = set()\nC = len('x')\nD = A\nE = F = 1\nG: int\nA[0] = 2\n"
    )
    assert parse_constants(source) == {"A": {("x", "y"): 1}, "B": set()}


def test_constants_inside_functions_count_and_a_modules_own_come_first() -> None:
    source = "class K:\n  def f(self):\n    fares: dict = {'a': 1}\n    A = 'inner'\nA = 'outer'\n"
    assert parse_constants(source) == {"fares": {"a": 1}, "A": "outer"}


def test_the_code_is_never_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    assert parse_constants(
        f"A = open({str(trace)!r}, 'w')\nimport nowhere_to_be_found\nraise SystemExit\nB = 1"
    ) == {"B": 1}
    assert not trace.exists()


@given(st.dictionaries(st.from_regex(r"[A-Z]{3,6}", fullmatch=True), JSON, max_size=4))
def test_whatever_is_literal_comes_back_as_it_was_written(values: dict[str, Any]) -> None:
    assert (
        parse_constants("\n".join(f"{name} = {value!r}" for name, value in values.items()))
        == values
    )


def a_package(tmp_path: Path, **modules: str) -> Path:
    folder = tmp_path / SOURCES
    folder.mkdir(parents=True)
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source, "utf-8")
    return tmp_path


def test_long_texts_are_there_only_if_they_are_asked_for(tmp_path: Path) -> None:
    package = a_package(tmp_path, long_context="LONG = 'text'", ticket_api="DEFAULT_STATE = {}")
    assert dict(read_tables(package, "TicketAPI", long_context=False)) == {"DEFAULT_STATE": {}}
    assert dict(read_tables(package, "TicketAPI", long_context=True)) == {
        "LONG": "text",
        "DEFAULT_STATE": {},
    }
    assert dict(read_tables(package, "GorillaFileSystem", long_context=False)) == {}


@pytest.mark.parametrize(
    ("class_name", "module"),
    [
        ("MessageAPI", "message_api"),
        ("TicketAPI", "ticket_api"),
        ("TradingBot", "trading_bot"),
        ("TravelAPI", "travel_booking"),
        ("TwitterAPI", "posting_api"),
        ("VehicleControlAPI", "vehicle_control"),
    ],
)
def test_each_class_has_tables_of_its_own_in_the_package(
    tmp_path: Path, class_name: str, module: str
) -> None:
    folder = tmp_path / "eval_checker" / "multi_turn_eval" / "func_source_code"
    folder.mkdir(parents=True)
    (folder / f"{module}.py").write_text(f"OWNER = {class_name!r}", "utf-8")
    assert dict(read_tables(tmp_path, class_name, long_context=False)) == {"OWNER": class_name}


def test_a_missing_table_is_told_with_its_file(tmp_path: Path) -> None:
    tables = read_tables(a_package(tmp_path, ticket_api="X = 1"), "TicketAPI", long_context=False)
    with pytest.raises(
        UsageError, match=r"ticket_api\.py holds no table 'DEFAULT_STATE'\n  Fetch it again"
    ):
        tables["DEFAULT_STATE"]


@pytest.mark.parametrize("source", [None, b"A = (", b"\x00", b"A = '\xff'"])
def test_a_module_that_cannot_be_read_is_told_with_the_command_that_brings_it(
    tmp_path: Path, source: bytes | None
) -> None:
    package = a_package(tmp_path)
    if source is not None:
        (package / SOURCES / LONG_CONTEXT).write_bytes(source)
    with pytest.raises(
        UsageError, match=r"cannot read .*long_context\.py.*\n  Fetch it: harness fetch bfcl"
    ):
        read_tables(package, "GorillaFileSystem", long_context=True)
