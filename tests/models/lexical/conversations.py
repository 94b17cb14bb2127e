"""Conversations with the model, its tools played by a plain function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, NamedTuple

import anyio

from harness.models.lexical import LexicalModel
from harness.models.tool_text.permission import Leave
from harness.types import (
    AssistantMessage,
    Message,
    ModelSpec,
    Reply,
    ToolAnswer,
    ToolList,
    ToolMessage,
    UserMessage,
)
from tests.models.lexical.prompts import TODAY, Prompt
from tests.models.lexical.toolsets import TOOLSETS

Call = tuple[str, dict[str, Any]]
Server = Callable[[str, Mapping[str, Any]], str]
"""Tool and arguments → result; a result that begins with ``!`` is an error."""

LONGEST = 12


class Talk(NamedTuple):
    """What came of a conversation."""

    calls: list[Call]
    answer: str
    turns: int
    messages: list[Message]


def model(leave: Leave = Leave(everything=True)) -> LexicalModel:  # noqa: B008 - it is frozen
    """Return the baseline, by default where the suite allows all calls."""
    spec = ModelSpec(name="lexical", provider="lexical", model_id="lexical")
    return LexicalModel(spec, today=lambda: date.fromisoformat(TODAY), leave=leave)


def reply(conversation: list[Message], tools: ToolList, using: LexicalModel | None = None) -> Reply:
    async def ask() -> Reply:
        return await (using or model()).answer(conversation, tools, None)

    return anyio.run(ask)


def empty(_tool: str, _arguments: Mapping[str, Any]) -> str:
    return "{}"


def talk(
    domain: str | ToolList, text: str, server: Server = empty, before: list[Message] | None = None
) -> Talk:
    """Converse until there is an answer; fails when there is none after `LONGEST` replies."""
    tools = TOOLSETS[domain] if isinstance(domain, str) else domain
    messages: list[Message] = [*(before or []), UserMessage(text=text)]
    calls: list[Call] = []
    lexical = model()
    for turn in range(1, LONGEST + 1):
        said = reply(messages, tools, lexical)
        messages.append(AssistantMessage(reply=said))
        if not said.tool_requests:
            return Talk(calls, said.text, turn, messages)
        calls += [(request.tool, dict(request.arguments)) for request in said.tool_requests]
        results = [
            (request.id, server(request.tool, request.arguments)) for request in said.tool_requests
        ]
        messages.append(
            ToolMessage(
                answers=tuple(
                    ToolAnswer(
                        request_id=key,
                        text=result.removeprefix("!"),
                        is_error=result.startswith("!"),
                    )
                    for key, result in results
                )
            )
        )
    raise AssertionError(f"no answer after {LONGEST} replies to {text!r}")


def right_tools(prompt: Prompt, calls: list[Call]) -> bool:
    return [tool for tool, _ in calls] == [tool for tool, _ in prompt.calls]


def right_calls(prompt: Prompt, calls: list[Call]) -> bool:
    return right_tools(prompt, calls) and all(
        name in got and got[name] == value and type(got[name]) is type(value)
        for (_, want), (_, got) in zip(prompt.calls, calls, strict=True)
        for name, value in want.items()
    )


def score(prompts: tuple[Prompt, ...], toolsets: Mapping[str, ToolList]) -> tuple[int, int]:
    """Return how many prompts got the right tools, and how many of those the right arguments."""
    talks = [(prompt, talk(toolsets[prompt.domain], prompt.text).calls) for prompt in prompts]
    return sum(right_tools(*one) for one in talks), sum(right_calls(*one) for one in talks)
