"""What a shell completes beside commands and options."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from harness.cli import cli
from harness.cli.programs.completion import VARIABLE
from tests.reports.run_logs import write_log


def completed(*words: str, begun: str) -> list[tuple[str, str]]:
    found = ShellComplete(cli, {}, "harness", VARIABLE).get_completions(list(words), begun)
    return [(item.type, item.value) for item in found]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evals").mkdir()
    for name in ("shop.yml", "shipping.csv", "notes.txt"):
        Path("evals", name).write_text("")
    write_log(
        tmp_path / ".harness" / "runs" / "20260101T000000Z-shop-aaaaaa" / "log.jsonl", {"a": "p"}
    )


@pytest.mark.parametrize("words", [["evals"], ["evals", "--suite"], ["probe"], ["grade", "latest"]])
def test_suites_are_completed_by_name(words: list[str]) -> None:
    assert completed(*words, begun="sh") == [("plain", "shipping"), ("plain", "shop")]


@pytest.mark.parametrize(
    "words",
    [
        ["view"],
        ["compare"],
        ["merge"],
        ["export", "otel"],
        ["grade"],
        ["evals", "--resume"],
        ["evals", "--baseline"],
    ],
)
def test_runs_are_completed_by_name(words: list[str]) -> None:
    assert completed(*words, begun="2026") == [("plain", "20260101T000000Z-shop-aaaaaa")]
    assert completed(*words, begun="la") == [("plain", "latest")]


@pytest.mark.parametrize("words", [["evals"], ["view"], ["evals", "--mcp-config"]])
def test_a_path_is_left_to_the_shell(words: list[str]) -> None:
    assert completed(*words, begun="evals/s") == [("file", "evals/s")]


def test_a_folder_without_suites_and_runs_completes_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert completed("evals", begun="") == [("file", "")]
