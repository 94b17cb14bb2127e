"""Turns a recorded result into the transcript that the model would have produced here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.leaderboards.bfcl.catalog import Category
from harness.leaderboards.bfcl.data import BfclEntry
from harness.leaderboards.bfcl.decoding.forms import OutputForm
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, NotCalls, Pairs
from harness.leaderboards.bfcl.functions import build_prompts
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
    dataclass,
)


def extract_steps(result: Any, category: Category) -> list[list[Any]] | None:
    """Return a recorded result as turns of steps, one step a reply.

    ``None`` if it has no turns.

    As upstream, the steps of a turn that is an object are its keys, and those of a turn that is a
    text are its letters, of which the last is kept. Neither can be parsed as calls.
    """
    if not _is_executed(category):
        return [[result]]
    return [_list_turn_steps(turn) for turn in result] if isinstance(result, list) else None


def _list_turn_steps(turn: Any) -> list[Any]:
    if isinstance(turn, str):
        return [*turn[-1:]]
    return list(turn) if isinstance(turn, list | dict) else []


@dataclass(frozen=True, slots=True)
class OutputReader:
    """Parses the outputs of one case."""

    category: Category
    """Category of the case: it decides whether calls are compared or executed, and the language of
    the arguments."""
    form: OutputForm
    """Form of the recording."""
    names: Mapping[str, str]
    """Function names as the model writes them → the names to judge."""

    def read_reply(self, item: Any) -> Reply:
        """Return the reply of one step, with its text if it has any."""
        executed = _is_executed(self.category)
        text = item if isinstance(item, str) else ""
        try:
            calls = _parse_calls(self.form, item, self.category)
        except NotCalls:
            return Reply(text=_find_answer_text(item) if executed else text or json.dumps(item))
        except MisshapenOutput:
            # Kept as a call with unreadable arguments, by which `transcript_steps` knows it again.
            request = ToolRequest(id="call_0", tool="", malformed=json.dumps(item))
            return Reply(text=text, tool_requests=(request,))
        if executed and not calls:
            return Reply(text=_find_answer_text(item))
        requests = tuple(
            ToolRequest(id=f"call_{number}", tool=self.names.get(name, name), arguments=arguments)
            for number, (name, arguments) in enumerate(calls)
        )
        return Reply(text=text, tool_requests=requests, stop="tool_calls")


def is_read(form: OutputForm, item: Any, category: Category) -> bool:
    """Whether an output can be parsed as calls."""
    try:
        _parse_calls(form, item, category)
    except (NotCalls, MisshapenOutput):
        return False
    return True


def _parse_calls(form: OutputForm, item: Any, category: Category) -> Pairs:
    return form.executed(item) if _is_executed(category) else form.compared(item, category.language)


def _is_executed(category: Category) -> bool:
    return category.judging in ("multi_turn", "answer")


def _find_answer_text(item: Any) -> str:
    """Return the text of a step without calls: its first text, ``" "`` if that is empty.

    It is empty only if the step has no text.
    """
    if not item:
        return ""
    return str(item[0] if isinstance(item, list) else item) or " "


def build_transcript(
    entry: BfclEntry, turns: Sequence[Sequence[Reply]] | None, row: JsonObject
) -> Transcript:
    """Return the conversation of ``entry`` in which the model gave these replies, turn by turn.

    ``row`` is the recorded line; its tokens (counts, or lists of counts) and seconds are kept.
    Without ``turns``, its result becomes a message that answers no turn.
    """
    if turns is None:
        said = AssistantMessage(reply=Reply(text=json.dumps(row["result"])))
        return _finish_transcript(row, messages=(said,), stop="reply_limit", replies=1)
    prompts = build_prompts(entry)
    messages: list[Message] = []
    calls: list[ToolCall] = []
    # Each step numbers its calls from 0, so they get ids of their own here.
    number, ids = 0, CallIds()
    for place, replies in enumerate(turns):
        messages.append(UserMessage(text=prompts[place] if place < len(prompts) else ""))
        for recorded in replies:
            number += 1
            reply = ids.take_all(recorded)
            messages.append(AssistantMessage(reply=reply))
            calls += [
                ToolCall(
                    tool=request.tool,
                    arguments=request.arguments,
                    outcome="ok",
                    reply=number,
                    request_id=request.id,
                )
                for request in reply.tool_requests
                if request.malformed is None
            ]
    last = turns[-1][-1] if turns and turns[-1] else Reply()
    return _finish_transcript(
        row,
        messages=tuple(messages),
        tool_calls=tuple(calls),
        answer="" if last.tool_requests else last.raw_text,
        stop="answer" if len(turns) >= len(prompts) else "reply_limit",
        replies=number,
    )


def _finish_transcript(row: JsonObject, **conversation: Any) -> Transcript:
    """Return the transcript of a conversation, with the tokens and seconds of its line."""
    return Transcript(
        usage=Usage(
            input_tokens=_sum_nested(row.get("input_token_count"), int),
            output_tokens=_sum_nested(row.get("output_token_count"), int),
            cost_usd=None,
        ),
        latency_s=_sum_nested(row.get("latency"), float) or 0.0,
        **conversation,
    )


def _sum_nested(counted: Any, as_type: type[Any]) -> Any:
    """Return the sum of nested lists of numbers; ``None`` if there are none."""
    numbers = list(_flatten_numbers(counted))
    return as_type(sum(numbers)) if numbers else None


def _flatten_numbers(counted: Any) -> list[float]:
    if isinstance(counted, list):
        return [number for item in counted for number in _flatten_numbers(item)]
    is_number = isinstance(counted, int | float) and not isinstance(counted, bool)
    return [counted] if is_number else []
