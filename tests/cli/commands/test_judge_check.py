from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.errors import HarnessError
from harness.cli.commands.judge_check import command
from tests.fake_provider import FakeProvider, Script, call, say

RECORDS = (
    {"query": "q", "answer": "a", "human": 0.9},
    {"query": "q", "answer": "b", "human": 0.2},
    {"query": "q", "answer": "c", "human": "pass"},
)
GENEROUS = [call("verdict", {"explanation": "Fine\x1b[2J by me.", "score": 0.8})]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return tmp_path


def run(project: Path, script: Script, *arguments: str) -> Result:
    with FakeProvider(script) as provider:
        judge = f"{{type: openai, model: gpt-4o, base_url: '{provider.url}/v1', api_key: test-key}}"
        (project / "harness.yml").write_text(f"mxcp: 1\nmodels:\n  models:\n    judges: {judge}\n")
        return CliRunner().invoke(command, ["labels.jsonl", "--judge-model", "judges", *arguments])


def test_it_tells_how_far_a_judge_can_be_trusted(project: Path) -> None:
    result = run(project, GENEROUS)
    assert result.exit_code == 0, result.output
    assert result.stderr == "3 answers are judged by judges.\n"
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        "judge judges, prompt 1: 3 of 3 answers judged",
        "agreement 0.67 (95 % interval 0.21–0.94), Cohen's kappa 0.00",
        "With fewer than 30 answers these figures are rough.",
        "mean difference of the scores 0.35",
    ]
    assert lines[5:8] == [
        "            judge pass  judge fail",
        "human pass           2           0",
        "human fail           1           0",
    ]
    assert "  labels.jsonl:2: human 0.20, judge 0.80: Fine by me." in lines


def test_it_gives_all_of_it_as_one_document(project: Path) -> None:
    document = json.loads(run(project, GENEROUS, "--json-output", "--threshold", "0.9").stdout)
    assert document["confusion"] == [[0, 2], [0, 1]]
    assert document["kappa"] == 0.0
    assert document["verdicts"][1] == {
        "line": 2,
        "human": 0.2,
        "score": 0.8,
        "grade": None,
        "explanation": "Fine\x1b[2J by me.",
        "error": None,
    }


def test_what_was_not_judged_is_named_and_decides_the_exit_code(project: Path) -> None:
    result = run(project, lambda request: say("fine"))
    assert result.exit_code == 4
    assert "judge judges, prompt 1: 0 of 3 answers judged" in result.stdout
    assert "  labels.jsonl:1: the judge judges gave no verdict in 2 attempts" in result.stdout


def test_without_a_judge_it_says_how_to_name_one(project: Path) -> None:
    result = CliRunner().invoke(command, ["labels.jsonl"])
    assert isinstance(result.exception, HarnessError)
    assert "--judge-model" in str(result.exception)
