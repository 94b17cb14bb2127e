"""A suite of another tool is called by the tool's name, and a suite of harness never is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.discovery import find_suites
from harness.errors import InvalidInput, NothingToRun
from harness.suites.other_tools import suite_of_another_tool
from harness.suites.readers import is_suite_file
from tests.suites.vocabulary import PlainVocabulary

SUITES: dict[str, list[Any]] = {
    "promptfoo": [
        {"prompts": ["{{q}}"], "providers": ["openai:gpt-5"], "tests": [{"vars": {"q": "x"}}]},
        {"description": "d", "targets": ["x"], "redteam": {"plugins": ["mcp"]}},
        {"prompts": "file://p.txt", "tests": "file://tests.csv"},
        {"providers": ["x"], "scenarios": [{"config": [], "tests": []}]},
    ],
    "mcp-evals": [
        {
            "model": {"provider": "openai", "name": "gpt-4o"},
            "evals": [{"name": "a", "prompt": "b", "expected_result": "c"}],
        },
        {"mcp_server": {"command": "x"}, "evals": [{"prompt": "b", "expected_result": "c"}]},
    ],
    "mcpchecker": [
        {"kind": "Eval", "metadata": {"name": "a"}, "config": {"taskSets": [{"glob": "*"}]}},
        {"kind": "Task", "apiVersion": "mcpchecker/v1alpha2", "spec": {"prompt": {"inline": "x"}}},
        {"kind": "Task", "metadata": {"name": "x"}, "steps": {"prompt": {"inline": "x"}}},
    ],
    "testmcpy": [
        {"version": "1.0", "questions": [{"id": "a", "prompt": "b", "evaluators": []}]},
        {"tests": [{"name": "a", "prompt": "b", "evaluators": [{"name": "answer_contains"}]}]},
    ],
    "gleanwork": [
        {"name": "a", "cases": [{"id": "b", "toolName": "read_file", "args": {}}]},
        {"name": "a", "cases": [{"id": "b", "mode": "mcp_host", "scenario": "Read it."}]},
    ],
}
WRITTEN: dict[str, Callable[[Any], str]] = {
    "yml": yaml.safe_dump,
    "yaml": lambda value: yaml.safe_dump(value, default_flow_style=True),
    "json": lambda value: json.dumps(value, indent=2),
    "one-line.json": json.dumps,
}


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize(
    ("tool", "value"), [(tool, value) for tool, values in SUITES.items() for value in values]
)
def test_a_suite_of_another_tool_is_called_by_its_name(
    tool: str, value: Any, form: str, tmp_path: Path
) -> None:
    path = tmp_path / f"theirs.{form}"
    path.write_text(WRITTEN[form](value), "utf-8")
    with pytest.raises(InvalidInput, match=rf"this is a suite of .*\b{tool}\b") as caught:
        find_suites([str(path)], [tmp_path / "evals"], PlainVocabulary())
    assert caught.value.problems[0].meant


@pytest.mark.parametrize(
    ("name", "text", "tool"),
    [
        ("evals.ts", "import { EvalConfig } from 'mcp-evals';\n", "mcp-evals"),
        ("evals.js", 'const { grade } = require("mcp-evals");\n', "mcp-evals"),
        (
            "evaluation.xml",
            "<evaluation>\n <qa_pair><question>a</question><answer>b</answer></qa_pair>\n",
            "mcp-builder",
        ),
    ],
)
def test_files_that_are_no_data_are_recognised_alone_and_in_a_folder(
    name: str, text: str, tool: str, tmp_path: Path
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=f"this is a suite of {tool}"):
        find_suites([str(folder / name)], [tmp_path / "evals"], PlainVocabulary())
    with pytest.raises(NothingToRun, match=f"this is a suite of {tool}"):
        find_suites([str(folder)], [tmp_path / "evals"], PlainVocabulary())


def test_a_suite_of_harness_with_a_mistake_is_told_its_mistake(tmp_path: Path) -> None:
    path = tmp_path / "shop.yml"
    path.write_text(
        "suite: shop\ntests: [{name: a, prompt: b, evaluators: [], prompts: c}]\n", "utf-8"
    )
    with pytest.raises(InvalidInput, match="unknown key 'evaluators'"):
        find_suites([str(path)], [tmp_path / "evals"], PlainVocabulary())


def test_no_suite_of_this_project_is_taken_for_another_tools() -> None:
    root = Path(__file__).parents[2] / "evals"
    files = [path for path in root.rglob("*") if path.is_file() and is_suite_file(path)]
    assert files
    assert [path for path in files if suite_of_another_tool(path)] == []
