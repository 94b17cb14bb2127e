from __future__ import annotations

from pathlib import Path

import pytest

from harness.leaderboards.bfcl import server
from harness.leaderboards.bfcl.data import Entry, entries_of
from harness.leaderboards.bfcl.output import Call
from harness.leaderboards.bfcl.server import ACKNOWLEDGED, Worlds, tools_of
from tests.leaderboards.bfcl.small_release import write_release


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    return write_release(tmp_path)


def entry(folder: Path, category: str) -> Entry:
    return entries_of(category, folder)[0]


def test_a_case_lists_its_own_functions_and_no_others(folder: Path) -> None:
    assert [tool.name for tool in tools_of(entry(folder, "simple_python"))] == ["weather.get"]
    assert [tool.name for tool in tools_of(entry(folder, "irrelevance"))] == ["add"]


def test_a_function_that_is_held_out_comes_with_its_turn(folder: Path) -> None:
    case = entry(folder, "multi_turn_miss_func")
    assert [[tool.name for tool in tools_of(case, turn)] for turn in (0, 1)] == [
        ["ls"],
        ["ls", "touch"],
    ]


def test_a_call_of_a_single_turn_case_is_acknowledged(folder: Path) -> None:
    assert (
        Worlds.none().call(entry(folder, "simple_python"), "t", Call("weather.get", {}))
        == ACKNOWLEDGED
    )


def test_each_trial_has_a_world_of_its_own(folder: Path) -> None:
    case, worlds = entry(folder, "multi_turn_miss_func"), Worlds.none()
    worlds.call(case, "one", Call("touch", {"file_name": "b.txt"}))
    assert "b.txt" in worlds.call(case, "one", Call("ls", {}))
    assert "b.txt" not in worlds.call(case, "two", Call("ls", {}))


def test_worlds_that_nobody_uses_any_more_are_forgotten(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_KEPT", 2)
    case, worlds = entry(folder, "multi_turn_miss_func"), Worlds.none()
    for trial in ("one", "two", "one", "three"):
        worlds.call(case, trial, Call("touch", {"file_name": "b.txt"}))
    assert "b.txt" in worlds.call(case, "one", Call("ls", {}))
    assert "b.txt" not in worlds.call(case, "two", Call("ls", {}))


def test_a_wrong_command_line_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert server.main(["http"]) == 2
    assert "PORT" in capsys.readouterr().err
