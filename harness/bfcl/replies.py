"""A recorded result becomes the transcript that the model would have left here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from harness.bfcl.catalog import Category
from harness.bfcl.data import Entry
from harness.bfcl.prompts import prompts_of
from harness.types import (
    AssistantMessage,
    JsonObject,
    Message,
    Reply,
    ToolCall,
    ToolRequest,
    Transcript,
    Usage,
    UserMessage,
)


def steps_of(result: Any, category: Category) -> list[list[Any]]:
    """Return a recorded result as turns of steps, each what one reply was."""
    if category.judging in ("multi_turn", "answer"):
        return [turn if isinstance(turn, list) else [turn] for turn in result] if isinstance(result, list) else []
    return [[result]]


def reply_of(item: Any, names: Mapping[str, str]) -> Reply:
    """Return the reply that one step stands for; ``names`` maps function names back to the data's.

    A step is words, a list that begins with words, or a list of ``{function: arguments as JSON}``.
    """
    calls = [item] if isinstance(item, dict) else item
    if not isinstance(calls, list):
        return Reply(text=item if isinstance(item, str) else json.dumps(item))
    if not all(isinstance(call, dict) for call in calls):
        first = calls[0]
        return Reply(text=first if isinstance(first, str) and first else json.dumps(item))
    pairs = chain.from_iterable(call.items() for call in calls)
    requests = tuple(_request(number, names.get(name, name), given) for number, (name, given) in enumerate(pairs))
    return Reply(tool_requests=requests, stop="tool_calls" if requests else "end")


def _request(number: int, name: str, given: Any) -> ToolRequest:
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return ToolRequest(id=f"call_{number}", tool=name, malformed=given)
    if not isinstance(arguments, dict):
        return ToolRequest(id=f"call_{number}", tool=name, malformed=json.dumps(arguments))
    return ToolRequest(id=f"call_{number}", tool=name, arguments=arguments)


def transcript_of(entry: Entry, turns: Sequence[Sequence[Reply]], row: JsonObject) -> Transcript:
    """Return the conversation of ``entry`` in which the model gave these replies, turn by turn.

    ``row`` is the recorded line: what it says of tokens (counts, or lists of them) and seconds is kept.
    """
    prompts = prompts_of(entry)
    messages: list[Message] = []
    calls: list[ToolCall] = []
    number = 0
    for place, replies in enumerate(turns):
        messages.append(UserMessage(text=prompts[place] if place < len(prompts) else ""))
        for reply in replies:
            number += 1
            messages.append(AssistantMessage(reply=reply))
            calls += [
                ToolCall(tool=one.tool, arguments=one.arguments, outcome="ok", turn=number, request_id=one.id)
                for one in reply.tool_requests
                if one.malformed is None
            ]
    last = turns[-1][-1] if turns and turns[-1] else Reply()
    return Transcript(
        messages=tuple(messages),
        tool_calls=tuple(calls),
        answer="" if last.tool_requests else last.text,
        stop="answer" if len(turns) >= len(prompts) else "turn_limit",
        usage=Usage(
            input_tokens=_total(row.get("input_token_count"), int),
            output_tokens=_total(row.get("output_token_count"), int),
            cost_usd=None,
        ),
        turns=number,
        latency_s=_total(row.get("latency"), float) or 0.0,
    )


def _total(counted: Any, as_type: type[Any]) -> Any:
    """Return the sum of nested lists of numbers; ``None`` where nothing was counted."""
    numbers = list(_numbers(counted))
    return as_type(sum(numbers)) if numbers else None


def _numbers(counted: Any) -> list[float]:
    if isinstance(counted, list):
        return [number for item in counted for number in _numbers(item)]
    is_number = isinstance(counted, int | float) and not isinstance(counted, bool)
    return [counted] if is_number else []
