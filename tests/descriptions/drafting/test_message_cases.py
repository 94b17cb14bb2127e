"""Conversations in JSON Lines become cases, whose checks are proposed and say why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.base.errors import InvalidInput, UsageError
from harness.descriptions.drafting.message_cases import build_suite_from_messages
from harness.judging.checks import VOCABULARY
from harness.runner import is_message_file
from harness.suites.readers import read_suite

FOUND = '{"id": "ORD-1042", "total": 349.5, "paid": true, "city": "Bern"}'


def call_openai(number: int, name: str, args: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(args)}
    calls = [{"id": f"c{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


OPENAI = {
    "model": "gpt-5",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What did Weber order last?"},
        call_openai(1, "find_customer", {"name": "weber", "limit": 10}),
        {"role": "tool", "tool_call_id": "c1", "content": '{"customer": "CUST_00019"}'},
        call_openai(2, "list_shops", {}),
        {"role": "tool", "tool_call_id": "c2", "content": '["Kiosk am Markt"]'},
        call_openai(3, "mcp__shop__get_order", {"customer": "CUST_00019"}),
        {"role": "tool", "tool_call_id": "c3", "content": FOUND},
        {"role": "assistant", "content": "Order ORD-1042 to Bern, for 349.5."},
    ],
}
ANTHROPIC = {
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Total of ORD-1042?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "t0", "name": "get_order", "input": {"id": "x"}},
                {"type": "tool_use", "id": "t1", "name": "get_order", "input": {"id": "ORD-1042"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t0", "is_error": True, "content": "349.5"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "It costs 349.5 in all"}],
                },
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "349.5 francs."}]},
        {"role": "user", "content": "Thanks. Is it paid?"},
        {"role": "assistant", "content": "I do not know; the total is 349.5."},
    ],
}
SMALL_TALK = {
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}]
}


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_calls_that_mattered_arguments_of_the_prompt_and_facts_are_proposed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", OPENAI, SMALL_TALK, ANTHROPIC)
    assert is_message_file(path)
    made = build_suite_from_messages(path, "shop", "shop")
    assert (made.cases, made.left_out) == (2, ("line 2: no call mattered",))
    first, second = yaml.safe_load(made.text)["tests"]
    assert first["prompt"] == "What did Weber order last?"
    # Neither the limit nor the customer's number stands in the prompt; no shop was used.
    assert first["assertions"] == {
        "must_succeed": [{"tool": "find_customer", "args": {"name": "weber"}}, "get_order"],
        "answer_contains": ["ORD-1042", "349.5", "Bern"],
    }
    assert first["metadata"]["proposed"] == {
        "must_succeed": "find_customer: a later call uses its result; "
        "get_order: the answer repeats its result",
        "answer_contains": "facts of the answer that came from results",
    }
    assert [turn["prompt"] for turn in second["turns"]] == [
        "Total of ORD-1042?",
        "Thanks. Is it paid?",
    ]
    assert second["assertions"] == {
        "must_succeed": [{"tool": "get_order", "args": {"id": "ORD-1042"}}],
        "answer_contains": ["349.5"],
    }


def build_span(trace: str, **messages: Any) -> dict[str, Any]:
    attributes = [
        {"key": f"gen_ai.{key}.messages", "value": {"stringValue": json.dumps(one)}}
        for key, one in messages.items()
    ]
    span = {"traceId": trace, "name": "chat", "attributes": attributes}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def test_spans_of_otlp_are_conversations_each_trace_one(tmp_path: Path) -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Total of ORD-1042?"}]}]
    call = {"type": "tool_call", "id": "1", "name": "get_order", "arguments": {"id": "ORD-1042"}}
    called = [{"role": "assistant", "parts": [call]}]
    part = {"type": "tool_call_response", "id": "1", "response": FOUND}
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": "349.5"}]}]
    whole = [*asked, *called, {"role": "tool", "parts": [part]}]
    path = write(
        tmp_path / "spans.jsonl",
        build_span("aa", input=asked, output=called),
        build_span("aa", input=whole, output=answered),
        build_span("bb"),
    )
    assert is_message_file(path)
    made = build_suite_from_messages(path, "shop", "shop")
    (test,) = yaml.safe_load(made.text)["tests"]
    assert test["name"] == "trace_aa"
    assert test["assertions"] == {
        "must_succeed": [{"tool": "get_order", "args": {"id": "ORD-1042"}}],
        "answer_contains": ["349.5"],
    }
    assert made.left_out == ("trace bb: it has no list of messages",)


def test_calls_of_mcp_spans_in_the_same_trace_are_proposed(tmp_path: Path) -> None:
    facts = {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.arguments": '{"id": "ORD-1042"}',
        "gen_ai.tool.call.result": FOUND,
    }
    attributes = [{"key": key, "value": {"stringValue": one}} for key, one in facts.items()]
    call = {"traceId": "aa", "name": "tools/call get_order", "attributes": attributes}
    path = write(
        tmp_path / "spans.jsonl",
        {"resourceSpans": [{"scopeSpans": [{"spans": [call]}]}]},
        build_span(
            "aa",
            input=[{"role": "user", "parts": [{"type": "text", "content": "Total of ORD-1042?"}]}],
            output=[{"role": "assistant", "parts": [{"type": "text", "content": "349.5"}]}],
        ),
    )
    (test,) = yaml.safe_load(build_suite_from_messages(path, "shop", "shop").text)["tests"]
    assert test["assertions"]["must_succeed"] == [{"tool": "get_order", "args": {"id": "ORD-1042"}}]


def test_the_draft_is_a_suite_as_it_is(tmp_path: Path) -> None:
    made = build_suite_from_messages(
        write(tmp_path / "t.jsonl", OPENAI, ANTHROPIC), "shop", {"command": "python"}
    )
    (tmp_path / "shop.yml").write_text(made.text, "utf-8")
    suite = read_suite(tmp_path / "shop.yml", VOCABULARY)
    assert [len(case.checks) > 1 for case in suite.cases] == [True, True]


def test_a_line_that_is_no_json_is_told_with_its_number(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", OPENAI)
    path.write_text(path.read_text("utf-8") + "{\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"t\.jsonl:2"):
        build_suite_from_messages(path, "shop", "shop")


def test_a_file_in_which_nothing_mattered_makes_no_suite(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", SMALL_TALK, {"messages": [5, {"role": "user"}]}, {"a": 1})
    with pytest.raises(UsageError, match="line 3: it has no list of messages"):
        build_suite_from_messages(path, "shop", "shop")


@pytest.mark.parametrize("text", ["", "{}\n", '{"messages": 5}\n', "\xff\n", "[" * 100_000])
def test_other_files_are_no_conversations(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text, "latin-1")
    assert not is_message_file(path)
    assert not is_message_file(tmp_path)
