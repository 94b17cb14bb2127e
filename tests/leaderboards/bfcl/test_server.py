from __future__ import annotations

from pathlib import Path

import pytest

from harness.leaderboards.bfcl import server
from harness.leaderboards.bfcl.data import BfclEntry, load_entries
from harness.leaderboards.bfcl.server import ACKNOWLEDGED, TrialInstances, list_tools_at
from harness.leaderboards.bfcl.transcript_steps import OutputCall
from tests.leaderboards.bfcl.small_release import write_release


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return write_release(tmp_path)


def entry(folder: Path, category: str) -> BfclEntry:
    return load_entries(category, folder)[0]


def test_a_case_lists_its_own_functions_and_no_others(folder: Path) -> None:
    assert [tool.name for tool in list_tools_at(entry(folder, "simple_python"))] == ["weather.get"]
    assert [tool.name for tool in list_tools_at(entry(folder, "irrelevance"))] == ["add"]


def test_a_function_that_is_held_out_comes_with_its_turn(folder: Path) -> None:
    case = entry(folder, "multi_turn_miss_func")
    assert [[tool.name for tool in list_tools_at(case, turn)] for turn in (0, 1)] == [
        ["ls"],
        ["ls", "touch"],
    ]


def test_a_call_of_a_single_turn_case_is_acknowledged(folder: Path) -> None:
    assert (
        TrialInstances().execute_call(
            entry(folder, "simple_python"), "t", OutputCall("weather.get", {})
        )
        == ACKNOWLEDGED
    )


def test_each_trial_has_a_world_of_its_own(folder: Path) -> None:
    case, worlds = entry(folder, "multi_turn_miss_func"), TrialInstances()
    worlds.execute_call(case, "one", OutputCall("touch", {"file_name": "b.txt"}))
    assert "b.txt" in worlds.execute_call(case, "one", OutputCall("ls", {}))
    assert "b.txt" not in worlds.execute_call(case, "two", OutputCall("ls", {}))


def test_worlds_that_nobody_uses_any_more_are_forgotten(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_KEPT", 2)
    case, worlds = entry(folder, "multi_turn_miss_func"), TrialInstances()
    for trial in ("one", "two", "one", "three"):
        worlds.execute_call(case, trial, OutputCall("touch", {"file_name": "b.txt"}))
    assert "b.txt" in worlds.execute_call(case, "one", OutputCall("ls", {}))
    assert "b.txt" not in worlds.execute_call(case, "two", OutputCall("ls", {}))


def test_a_wrong_command_line_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert server.main(["http"]) == 2
    assert "PORT" in capsys.readouterr().err
