"""Datasets of gleanwork's mcp-server-tester: the same verdicts, and no key that vanishes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput
from tests.suites.foreign.translated import passes, read_rows, read_text

# The verdicts are those of the validators of @gleanwork/mcp-server-tester 1.1.0.
ROWS = read_rows("gleanwork.jsonl")


def write(*cases: dict[str, Any], **more: Any) -> str:
    return json.dumps({"name": "files", "cases": list(cases), **more}, indent=1)


def ask(**more: Any) -> dict[str, Any]:
    return {"id": "one", "mode": "mcp_host", "scenario": "Say x.", **more}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: json.dumps(row["expect"])[:60])
def test_every_verdict_is_that_of_the_original(row: dict[str, Any], tmp_path: Path) -> None:
    suite = read_text(tmp_path / "files.json", write(ask(expect=row["expect"])))
    assert passes(suite.cases[0], row["answer"], row["calls"]) == row["passes"]


def test_both_versions_say_the_same(tmp_path: Path) -> None:
    expect = {"containsText": "x"}
    first = ask(expect=expect, iterations=3, accuracyThreshold=0.5, tags=["a"], metadata={"b": 1})
    second = {"id": "one", "input": "Say x.", "assertions": expect, "trials": 3}
    second |= {"passThreshold": 0.5, "tags": ["a"], "metadata": {"b": 1}}
    cases = [read_text(tmp_path / "files.json", write(case)).cases[0] for case in (first, second)]
    for case in cases:
        assert (case.name, case.prompt, case.tags, case.metadata) == (
            "one",
            "Say x.",
            ("a",),
            {"b": 1},
        )
        assert (case.repeats.trials, case.repeats.pass_threshold) == (3, 0.5)


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ({"id": "one", "toolName": "read", "args": {}}, "case 'one' asks no model"),
        ({"id": "one", "scenario": "x", "expect": {}}, "case 'one' asks no model"),
        (ask(expect={"snapshot": "x"}), "'snapshot' has no form here"),
        (ask(expect={"isError": False}), "'isError' has no form here"),
        (ask(expect={"contains": "x"}), "unknown key 'contains'"),
        (ask(judgeReps=2), "'judgeReps' has no form here"),
        (ask(client="cowork"), "'client' has no form here"),
        (ask(mcpHostConfig={"provider": "mistral", "model": "x"}), "provider 'mistral'"),
        (ask(mcpHostConfig={"temperature": 0}), "'temperature' has no form here"),
        (ask(expect={}), "test 'one' checks nothing"),
        (ask(expect={"containsText": 5}), "expected a list, found 5"),
        (ask(expect={"passesJudge": {"rubric": "taste"}}), "the rubric is no known one"),
        (ask(expect={"matchesPattern": "(?=x)"}), "regular expression"),
        (ask(expect={"toolsTriggered": {"calls": [{"name": "a", "args": {}}]}}), "key 'args'"),
        (
            ask(expect={"toolsTriggered": {"calls": [{"name": "a", "arguments": {"$gt": 1}}]}}),
            "'$gt' would be read as a matcher",
        ),
    ],
)
def test_what_has_no_form_here_is_refused_with_its_line(
    case: dict[str, Any], told: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"files\.json:[0-9]+") as caught:
        read_text(tmp_path / "files.json", write(case))
    assert told in str(caught.value)


def test_leniently_it_is_listed_and_the_case_says_what_it_no_longer_checks(tmp_path: Path) -> None:
    cases = [
        {"id": "direct", "toolName": "read", "args": {}},
        ask(expect={"containsText": "x", "responseSize": {"maxBytes": 9}}),
        {**ask(expect={"snapshot": "x"}), "id": "gone"},
        {**ask(expect={"containsText": "x"}), "id": "whole"},
    ]
    suite = read_text(tmp_path / "files.json", write(*cases), lenient=True)
    assert [case.name for case in suite.cases] == ["one", "whole"]
    told, whole = suite.cases
    assert told.metadata["not_checked"] == ["case 'one': 'responseSize' has no form here"]
    assert "Not checked here: case 'one': 'responseSize'" in (told.description or "")
    assert whole.description is None
    assert whole.metadata == {}
    notes = "\n".join(suite.notes)
    for lost in ("'direct' asks no model", "'responseSize'", "'snapshot'", "'gone' checks nothing"):
        assert lost in notes


def test_one_model_is_the_suites_and_several_are_refused(tmp_path: Path) -> None:
    def host(model: str, name: str) -> dict[str, Any]:
        config = {"provider": "anthropic", "model": model}
        return {**ask(expect={"containsText": "x"}, mcpHostConfig=config), "id": name}

    suite = read_text(tmp_path / "files.json", write(host("a", "1"), host("a", "2")))
    assert suite.model == "anthropic:a"
    with pytest.raises(InvalidInput, match="2 models are named"):
        read_text(tmp_path / "files.json", write(host("a", "1"), host("b", "2")))


KEYS = {
    "description": "d", "client": "mst", "model": "m", "clientOptions": {}, "trials": 2,
    "passThreshold": 0.5, "judgeReps": 2, "expected": {"answer": "a"}, "tags": ["t"],
    "metadata": {"k": 1}, "iterations": 2, "accuracyThreshold": 0.5, "canonicalAnswer": "a",
    "mcpHostConfig": {"provider": "openai", "model": "m"}, "toolName": "t", "args": {},
}  # fmt: skip
ASSERTIONS: dict[str, Any] = {
    "matchesPattern": "x", "passesJudge": {"rubric": "correctness"}, "response": 1, "schema": "s",
    "toolsTriggered": {"calls": [{"name": "a"}]}, "toolCallCount": {"max": 1}, "snapshot": "s",
    "snapshotSanitizers": ["uuid"], "isError": True, "responseSize": {"maxBytes": 1},
}  # fmt: skip
JUDGE = {
    "reference": "r", "threshold": 0.5, "reps": 2, "provider": "openai", "model": "m",
    "judge": "j", "apiKeyEnvVar": "K", "maxTokens": 5, "temperature": 0, "maxBudgetUsd": 1,
    "maxToolOutputSize": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        *(("case", key, value) for key, value in KEYS.items()),
        *(("expect", key, value) for key, value in ASSERTIONS.items()),
        *(("judge", key, value) for key, value in JUDGE.items()),
        *((place, "strange", 1) for place in ("case", "expect", "judge")),
    ],
)
def test_no_key_of_the_schema_vanishes(place: str, key: str, value: Any, tmp_path: Path) -> None:
    def build(*, with_key: bool) -> str:
        extra = {key: value} if with_key else {}
        judge = {"rubric": {"text": "Is it right?"}} | (extra if place == "judge" else {})
        expect = {"containsText": "x", **(extra if place == "expect" else {})}
        if place == "judge":
            expect["passesJudge"] = judge
        return write(ask(expect=expect, **(extra if place == "case" else {})))

    without = read_text(tmp_path / "files.json", build(with_key=False))
    try:
        found = read_text(tmp_path / "files.json", build(with_key=True))
    except InvalidInput as error:
        assert key in str(error) or "provider" in str(error)  # noqa: PT017 - one of two outcomes
        return
    changed = [
        (suite.model, suite.notes, suite.cases[0].repeats, suite.cases[0].tags,
         suite.cases[0].metadata, suite.cases[0].description,
         [(check.kind, check.params) for check in suite.cases[0].checks])
        for suite in (without, found)
    ]  # fmt: skip
    assert changed[0] != changed[1]
