"""Turns a recorded result into the transcript that the model would have produced here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.leaderboards.bfcl.catalog import Category
from harness.leaderboards.bfcl.data import Entry
from harness.leaderboards.bfcl.decoding.forms import Form
from harness.leaderboards.bfcl.decoding.reading import Misshapen, NotCalls, Pairs
from harness.leaderboards.bfcl.prompts import prompts_of
from harness.models import CallIds
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


def steps_of(result: Any, category: Category) -> list[list[Any]] | None:
    """Return a recorded result as turns of steps, one step a reply.

    ``None`` if it has no turns.

    As upstream, the steps of a turn that is an object are its keys, and those of a turn that is a
    text are its letters, of which the last is kept. Neither can be parsed as calls.
    """
    if not _is_executed(category):
        return [[result]]
    return [_steps(turn) for turn in result] if isinstance(result, list) else None


def _steps(turn: Any) -> list[Any]:
    return (
        list(turn)
        if isinstance(turn, list | dict)
        else [turn[-1]]
        if isinstance(turn, str) and turn
        else []
    )


@dataclass(frozen=True, slots=True)
class Reader:
    """Parses the outputs of one case."""

    category: Category
    """Category of the case: it decides whether calls are compared or executed, and the language of
    the arguments."""
    form: Form
    """Form of the recording."""
    names: Mapping[str, str]
    """Function names as the model writes them → the names to judge."""

    def reply(self, item: Any) -> Reply:
        """Return the reply of one step, with its text if it has any."""
        executed = _is_executed(self.category)
        text = item if isinstance(item, str) else ""
        try:
            calls = _read(self.form, item, self.category)
        except NotCalls:
            return Reply(text=_answer(item) if executed else text or json.dumps(item))
        except Misshapen:
            return Reply(
                text=text,
                tool_requests=(ToolRequest(id="call_0", tool="", malformed=json.dumps(item)),),
            )
        if executed and not calls:
            return Reply(text=_answer(item))
        requests = tuple(
            ToolRequest(id=f"call_{number}", tool=self.names.get(name, name), arguments=arguments)
            for number, (name, arguments) in enumerate(calls)
        )
        return Reply(text=text, tool_requests=requests, stop="tool_calls")


def is_read(form: Form, item: Any, category: Category) -> bool:
    """Whether an output can be parsed as calls."""
    try:
        _read(form, item, category)
    except (NotCalls, Misshapen):
        return False
    return True


def _read(form: Form, item: Any, category: Category) -> Pairs:
    return form.executed(item) if _is_executed(category) else form.compared(item, category.language)


def _is_executed(category: Category) -> bool:
    return category.judging in ("multi_turn", "answer")


def _answer(item: Any) -> str:
    """Return the text of a step without calls: its first text, ``" "`` if that is empty.

    It is empty only if the step has no text.
    """
    if not item:
        return ""
    return str(item[0] if isinstance(item, list) else item) or " "


def transcript_of(
    entry: Entry, turns: Sequence[Sequence[Reply]] | None, row: JsonObject
) -> Transcript:
    """Return the conversation of ``entry`` in which the model gave these replies, turn by turn.

    ``row`` is the recorded line; its tokens (counts, or lists of counts) and seconds are kept.
    Without ``turns``, its result becomes a message that answers no turn.
    """
    if turns is None:
        said = AssistantMessage(reply=Reply(text=json.dumps(row["result"])))
        return _ended(row, messages=(said,), stop="reply_limit", replies=1)
    prompts = prompts_of(entry)
    messages: list[Message] = []
    calls: list[ToolCall] = []
    number, ids = 0, CallIds()
    for place, replies in enumerate(turns):
        messages.append(UserMessage(text=prompts[place] if place < len(prompts) else ""))
        for recorded in replies:
            number += 1
            reply = ids.take_all(recorded)
            messages.append(AssistantMessage(reply=reply))
            calls += [
                ToolCall(
                    tool=one.tool,
                    arguments=one.arguments,
                    outcome="ok",
                    reply=number,
                    request_id=one.id,
                )
                for one in reply.tool_requests
                if one.malformed is None
            ]
    last = turns[-1][-1] if turns and turns[-1] else Reply()
    return _ended(
        row,
        messages=tuple(messages),
        tool_calls=tuple(calls),
        answer="" if last.tool_requests else last.as_it_came,
        stop="answer" if len(turns) >= len(prompts) else "reply_limit",
        replies=number,
    )


def _ended(row: JsonObject, **conversation: Any) -> Transcript:
    """Return the transcript of a conversation, with the tokens and seconds of its line."""
    return Transcript(
        usage=Usage(
            input_tokens=_total(row.get("input_token_count"), int),
            output_tokens=_total(row.get("output_token_count"), int),
            cost_usd=None,
        ),
        latency_s=_total(row.get("latency"), float) or 0.0,
        **conversation,
    )


def _total(counted: Any, as_type: type[Any]) -> Any:
    """Return the sum of nested lists of numbers; ``None`` if there are none."""
    numbers = list(_numbers(counted))
    return as_type(sum(numbers)) if numbers else None


def _numbers(counted: Any) -> list[float]:
    if isinstance(counted, list):
        return [number for item in counted for number in _numbers(item)]
    is_number = isinstance(counted, int | float) and not isinstance(counted, bool)
    return [counted] if is_number else []
