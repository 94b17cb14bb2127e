"""Whatever stands in a file of another tool, it is read or refused; nothing breaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput, UsageError
from tests.suites.foreign.translated import read_rows, read_text

ODD: tuple[Any, ...] = (None, 5, -1.5, True, "", "x", [], [1], [None], {}, {"a": 1}, [{"a": []}])
EVERYTHING: dict[str, Any] = {
    "description": "d", "prompts": ["{{q}}", {"raw": "r", "label": "l"}], "tags": {"a": "b"},
    "providers": [{"id": "openai:gpt-5", "label": "l", "config": {
        "mcp": {"enabled": True, "server": {"command": "c", "args": ["a"], "name": "n"}}}}],
    "defaultTest": {"vars": {"z": 1}, "assert": [{"type": "contains", "value": "a"}]},
    "evaluateOptions": {"repeat": 2, "cache": True}, "metadata": {"a": 1}, "outputPath": "o",
    "tests": [
        {"description": "d", "vars": {"q": ["a", "b"]}, "threshold": 0.5, "metadata": {"a": 1},
         "options": {"prefix": "p", "suffix": "s", "disableDefaultAsserts": True}, "assert": [
            {"type": "regex", "value": "a+", "weight": 2, "metric": "m"},
            {"type": "not-icontains-any", "value": ["a", "b"]}]},
        {"vars": {"q": "a"}, "assert": [
            {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "equals", "value": "a"}]},
            {"type": "latency", "threshold": 5}, {"type": "llm-rubric", "value": "v"},
            {"type": "trajectory:tool-used", "value": {"name": "n", "min": 1, "max": 2}},
            {"type": "trajectory:tool-sequence", "value": {"mode": "exact", "steps": ["a", "b"]}},
            {"type": "trajectory:tool-args-match",
             "value": {"name": "n", "args": {"a": {"b": [1]}}, "mode": "partial", "ignore": ["i"]}},
            {"type": "trajectory:step-count", "value": {"type": "tool", "min": 1}},
            {"type": "tool-call-f1", "value": ["a", "b", "n"]}, {"$ref": "#/parts/one"}]},
    ],
    "parts": {"one": {"type": "starts-with", "value": "s"}},
}  # fmt: skip
DATASET: dict[str, Any] = {
    "name": "n", "description": "d", "metadata": {"a": 1}, "cases": [
        {"id": "i", "mode": "mcp_host", "scenario": "s", "description": "d", "iterations": 2,
         "accuracyThreshold": 0.5, "tags": ["t"], "metadata": {"a": 1}, "canonicalAnswer": "a",
         "mcpHostConfig": {"provider": "openai", "model": "m"}, "expect": {
            "containsText": ["a"], "matchesPattern": "a+", "toolCallCount": {"min": 1, "max": 2},
            "passesJudge": [{"rubric": {"text": "t"}, "reference": "r", "threshold": 0.5,
                             "provider": "openai", "model": "m"}],
            "toolsTriggered": {"order": "strict", "exclusive": True, "calls": [
                {"name": "a", "arguments": {"k": {"z": [1, {"$pattern": "a+", "$flags": "i"}]}}},
                {"name": "b", "required": True}]}}},
        {"id": "j", "input": "s", "trials": 2, "passThreshold": 0.5, "model": "openai:m",
         "expected": {"answer": "a"}, "assertions": {"containsText": "a"}},
    ],
}  # fmt: skip


def list_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_paths(part, (*path, key))


def replace_part(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    whole = deepcopy(value)
    place = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = odd
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("name", ["promptfooconfig.json", "dataset.json"])
def test_an_odd_value_anywhere_is_read_or_refused(name: str, lenient: bool, tmp_path: Path) -> None:
    value = EVERYTHING if name.startswith("prompt") else DATASET
    read_text(tmp_path / name, json.dumps(value), lenient=lenient)
    for path in list_paths(value):
        for odd in ODD if path else ():
            try:
                read_text(
                    tmp_path / name, json.dumps(replace_part(value, path, odd)), lenient=lenient
                )
            except (InvalidInput, UsageError) as error:
                assert name in str(error)  # noqa: PT017 - one of two outcomes


def test_the_tables_of_verdicts_are_there() -> None:
    assert len(read_rows("promptfoo.jsonl")) >= 40
    assert len(read_rows("gleanwork.jsonl")) >= 40
