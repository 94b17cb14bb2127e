"""A suite of another tool is called by the tool's name, and a suite of harness never is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.base.errors import InvalidInput, NothingToRun
from harness.suites.discovery import find_suites
from harness.suites.foreign_suites import recognise_suite
from harness.suites.readers import is_suite_file
from tests.suites.vocabulary import PlainVocabulary

SUITES: dict[str, list[Any]] = {
    "promptfoo": [
        {"description": "d", "targets": ["x"], "redteam": {"plugins": ["mcp"]}},
        [{"description": "a", "vars": {"q": "x"}, "assert": [{"type": "contains", "value": "y"}]}],
    ],
    "mcpchecker": [
        {"kind": "Eval", "metadata": {"name": "a"}, "config": {"taskSets": [{"glob": "*"}]}},
        {"kind": "Agent", "metadata": {"name": "x"}, "builtin": {"type": "claude-code"}},
    ],
    "lastmile": [
        {"mcp": {"servers": {}}, "default_agent": "default", "judge": {"min_score": 0.8}},
    ],
    "pydantic-evals": [
        {"name": "a", "cases": [{"inputs": "b", "expected_output": "c", "evaluators": ["X"]}]},
    ],
    "MCPJam": [
        [{"title": "a", "query": "b", "runs": 1, "expectedToolCalls": ["c"]}],
        {"tests": [{"title": "a", "prompt": "b", "expectedTools": ["c"], "selectedServers": []}]},
    ],
    "mcp-eval-runner": [
        {"name": "a", "steps": [{"id": "b", "tool": "c", "expect": {"output_contains": "d"}}]},
    ],
    "mcp-probe": [
        {"server": {"command": "x"}, "tests": [{"name": "a", "call": "tools/list", "expect": {}}]},
    ],
    "skill-creator": [
        {"skill_name": "a", "evals": [{"id": 1, "prompt": "b", "expected_output": "c"}]},
    ],
    "Agent Development Kit": [
        {"eval_set_id": "a", "eval_cases": [{"eval_id": "b", "conversation": []}]},
        [{"query": "a", "expected_tool_use": [], "reference": "b"}],
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
        ("promptfooconfig.js", "module.exports = { prompts: [], providers: [] };\n", "promptfoo"),
        ("shop.eval.ts", 'import { Eval } from "braintrust";\n', "Braintrust"),
        ("shop.test.ts", "import { EvalTest } from '@mcpjam/sdk';\n", "MCPJam"),
        ("test_shop.py", "from deepeval.metrics import MCPUseMetric\n", "DeepEval"),
        ("shop.py", "import inspect_ai\n", "Inspect"),
        ("test_fetch.py", "from mcp_eval import Expect, task\n", "mcp-eval of lastmile"),
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


@pytest.mark.parametrize(
    ("name", "text", "tool"),
    [
        ("tests.csv", "\ufeffquestion,__expected\nHi,contains: x\n", "promptfoo"),
        ("tests.jsonl", '{"vars": {"q": "x"}, "assert": []}\n', "promptfoo"),
        ("samples.jsonl", '{"input": [], "ideal": "time"}\n', "OpenAI Evals"),
    ],
)
def test_tables_of_other_tools_are_recognised(
    name: str, text: str, tool: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=f"this is a suite of {tool}"):
        find_suites([str(path)], [tmp_path / "evals"], PlainVocabulary())


def test_a_file_of_blanks_is_searched_in_no_time(tmp_path: Path) -> None:
    path = tmp_path / "blank.yaml"
    path.write_text("\n" * 100_000 + " " * 100_000 + "{," * 100_000, "utf-8")
    assert recognise_suite(path) is None  # quadratic work would run for minutes


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
    assert [path for path in files if recognise_suite(path)] == []
