"""A Python function that answers in place of a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import harness
from harness.base.errors import ModelError, UsageError
from harness.models import build_function_spec, load_function, open_model
from harness.runner.engines.payloads import refuse_code
from harness.runner.planning.plan import make_plan
from harness.types import (
    AssistantMessage,
    Case,
    ModelSpec,
    Reply,
    ServerSpec,
    Suite,
    Tool,
    ToolAnswer,
    ToolList,
    ToolMessage,
    ToolRequest,
    UserMessage,
)

pytestmark = pytest.mark.anyio

TOOLS = ToolList(
    tools=(Tool(name="find", description="Find it.", input_schema={"type": "object"}),)
)
ASKED = UserMessage(text="Where is it?")
CALL = ToolRequest(id="py_1_1", tool="find", arguments={"n": 1})


def call_then_answer(messages: list[Any], tools: list[Any]) -> Any:
    """Find, then say what was found."""
    if messages[-1]["role"] == "tool":
        return messages[-1]["content"]
    return {"tool_calls": [{"name": tools[0]["name"], "arguments": {"n": 1}}]}


class Counting:
    """What is made of a class has a state."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, messages: list[Any], tools: list[Any]) -> str:
        self.calls += 1
        return str(self.calls)


async def answer(
    function: Callable[..., Any], *conversation: Any, system: str | None = None
) -> Any:
    return await open_model(build_function_spec(function)).answer(conversation, TOOLS, system)


async def test_it_is_given_the_conversation_and_the_tools_as_plain_values() -> None:
    seen: list[Any] = []

    def listen(*given: Any) -> str:
        seen.extend(given)
        return "done"

    said = AssistantMessage(reply=Reply(text="Looking.", tool_requests=(CALL,)))
    found = ToolMessage(answers=(ToolAnswer(request_id="py_1_1", text="here", is_error=True),))
    assert (await answer(listen, ASKED, said, found, system="Be kind.")).text == "done"
    messages, tools = json.loads(json.dumps(seen))
    assert messages == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Where is it?"},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [{"id": "py_1_1", "name": "find", "arguments": {"n": 1}}],
        },
        {
            "role": "tool",
            "tool_call_id": "py_1_1",
            "name": "find",
            "content": "here",
            "is_error": True,
        },
    ]
    assert tools == [
        {"name": "find", "description": "Find it.", "input_schema": {"type": "object"}}
    ]


async def test_a_text_a_mapping_and_a_reply_are_replies_and_cost_nothing() -> None:
    async def reply(_messages: Any, _tools: Any) -> Reply:
        return Reply(text="whole")

    called = await answer(call_then_answer, ASKED)
    assert (called.tool_requests, called.stop, called.usage.cost_usd) == ((CALL,), "tool_calls", 0)
    assert (await answer(lambda *_: {"content": "text"}, ASKED)).text == "text"
    assert (await answer(reply, ASKED)).text == "whole"


@pytest.mark.parametrize(
    "returned",
    [
        None,
        7,
        {},
        {"text": "x"},
        {"content": 7},
        {"tool_calls": "find"},
        {"tool_calls": [{"tool": "find"}]},
        {"tool_calls": [{"name": "find", "arguments": [1]}]},
        {"tool_calls": [{"name": "find", "arguments": {"n": object()}}]},
    ],
)
async def test_anything_else_is_an_error_that_says_what_to_return(returned: Any) -> None:
    with pytest.raises(ModelError, match=r"returned no reply: .*Return text, or"):
        await answer(lambda *_: returned, ASKED)


async def test_an_exception_is_an_error_with_its_line() -> None:
    def fail(*_: Any) -> str:
        raise ValueError("nope")

    with pytest.raises(ModelError, match=r"test_python_function\.py:\d+: ValueError: nope"):
        await answer(fail, ASKED)


async def test_a_name_stands_for_a_function_or_an_instance_of_a_class() -> None:
    here = "tests.models.test_python_function"
    assert build_function_spec(call_then_answer).name == f"python:{here}:call_then_answer"
    named = ModelSpec(name="m", provider="python", model_id=f"{here}:call_then_answer")
    assert (await open_model(named).answer([ASKED], TOOLS, None)).tool_requests == (CALL,)
    counting = open_model(replace(named, model_id=f"{here}:Counting"))
    assert [(await counting.answer([ASKED], TOOLS, None)).text for _ in range(2)] == ["1", "2"]
    with pytest.raises(UsageError, match="cannot be called"):
        load_function(f"{here}:ASKED")


def test_a_function_without_a_name_is_not_sent_to_other_processes() -> None:
    def plan(function: Callable[..., Any]) -> Any:
        model = build_function_spec(function)
        return make_plan(
            [Suite(name="s", cases=(Case(name="a", prompt="?", checks=()),))],
            models_of=lambda _: [model],
            server_of=lambda _: ServerSpec(name="s"),
        )

    refuse_code(plan(call_then_answer))
    with pytest.raises(UsageError, match="no other process finds it"):
        refuse_code(plan(lambda *_: "x"))


def test_functions_of_one_name_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="two of the models are named 'python:"):
        harness.run("finance", model=[lambda *_: "a", lambda *_: "b"])


@pytest.mark.slow
def test_a_run_asks_functions_beside_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals").mkdir()
    (tmp_path / "bots.py").write_text("def say(messages, tools):\n    return 'from the suite'\n")
    (tmp_path / "evals" / "prices.yml").write_text(
        "suite: prices\nserver: finance\nmodel: python:bots.py:say\ntests:\n"
        "  - {name: a, prompt: q, assertions: {answer_contains: [suite]}}\n"
    )
    assert [one.answer for one in harness.run("prices").results] == ["from the suite"]
    both = harness.run("prices", model=["lexical", lambda *_: "from the program"])
    assert [one.status for one in both.results] == ["failed", "failed"]
    assert both.results[1].answer == "from the program"
