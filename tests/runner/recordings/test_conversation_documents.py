"""Conversations that stand in one JSON document, and the lists of tools that they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput
from harness.runner import grade_conversations, is_message_file, read_conversations

TALK: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Where?"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "get_town", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "Error: Unknown tool: get_town"},
        {"role": "assistant", "content": "In York."},
    ]
}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
OPENAI = [{"type": "function", "function": {"name": "find_town", "parameters": SCHEMA}}]
ANTHROPIC = [{"name": "mcp__towns__find_town", "description": "Finds.", "input_schema": SCHEMA}]
OTEL = [{"type": "function", "name": "find_town", "parameters": SCHEMA}]


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": json.dumps(value)}}


def export(tools: Any = None) -> dict[str, Any]:
    """Return a document of OTLP with the same conversation."""
    words = {
        "gen_ai.input.messages": TALK["messages"][:-1],
        "gen_ai.output.messages": TALK["messages"][-1:],
    }
    if tools is not None:
        words["gen_ai.tool.definitions"] = tools
    span = {
        "traceId": "t1",
        "spanId": "s1",
        "attributes": [attribute(*one) for one in words.items()],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def write(folder: Path, text: str) -> Path:
    path = folder / "talks.json"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("document", "places"),
    [
        (TALK, {"line 1", "item 1"}),
        ([TALK, TALK], {"item 1", "item 2"}),
        (TALK["messages"], {"item 1"}),
        (export(), {"trace t1"}),
        ([export(), TALK, 5], {"item 2", "item 3", "trace t1"}),
    ],
)
def test_a_document_says_the_same_as_lines_of_it(
    tmp_path: Path, document: Any, places: set[str], indent: int | None
) -> None:
    path = write(tmp_path, "\ufeff" + json.dumps(document, indent=indent))
    assert is_message_file(path)
    found = read_conversations(path)
    assert {one.place for one in found} <= places
    known = [one.transcript.answer for one in found if one.transcript is not None]
    assert set(known) == {"In York."}
    assert all(one.problem for one in found if one.transcript is None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"messages": []},', "this is not JSON"),
        ('{\n "messages": [,]\n}', "this is not JSON"),
        ('[{"messages": [], "messages": []}]', "'messages' is given twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_damaged_document_is_one_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_conversations(write(tmp_path, text))
    assert len(refused.value.problems) == 1
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("talk", "known"),
    [
        (TALK, False),
        (TALK | {"tools": OPENAI}, True),
        (TALK | {"tools": ANTHROPIC}, True),
        (export(OTEL), True),
    ],
)
def test_a_list_of_tools_lets_its_checks_be_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, talk: dict[str, Any], known: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    case = {
        "name": "town",
        "prompt": "Where?",
        "assertions": {
            "decision": [
                {"tool": "get_town", "is": "hidden"},
                {"tool": "find_town", "is": "not_attempted"},
            ],
            "answer_contains": "York",
        },
    }
    suite = {"mxcp": 1, "suite": "s", "server": "data_governance", "tests": [case]}
    (tmp_path / "s.yml").write_text(json.dumps(suite), "utf-8")
    log = grade_conversations(write(tmp_path, json.dumps(talk)), ["s.yml"], tmp_path)
    [result] = log.results
    # Without the list nobody can say what is hidden, which is no pass.
    assert result.status == ("passed" if known else "error"), result.checks
    transcript = log.read_transcript(result.key)
    assert transcript is not None
    assert transcript.tools == (("find_town",) if known else ())
    assert [call.outcome for call in transcript.tool_calls] == ["unknown_tool"]
