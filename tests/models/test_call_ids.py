"""Every call of a conversation has an id of its own, whatever the endpoint gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.conversation import CallIds, make_ids_unique
from harness.models.model import Model
from harness.runner.model_conversation import ModelConversation
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    ToolAnswer,
    ToolMessage,
    ToolRequest,
    Transcript,
    Turn,
    UserMessage,
)
from tests.fake_provider import FakeProvider, Step, raw, say
from tests.models.support import APIS, Api, opened
from tests.support import MemorySession, ScriptedModel, a_case

MISSING = object()
Given = st.sampled_from([MISSING, None, "", " ", "call_0", "call_1", "call00001", "call00002", "x"])
Turns = st.lists(st.lists(Given, min_size=1, max_size=3), min_size=1, max_size=4)


def body(api: Api, ids: Sequence[object]) -> dict[str, Any]:
    """Return a reply that makes a call for each of ``ids``."""
    field = {"messages": "id", "chat": "id", "responses": "call_id"}[api]
    own = [{} if one is MISSING else {field: one} for one in ids]
    if api == "messages":
        blocks = [{"type": "tool_use", **one, "name": "look", "input": {}} for one in own]
        return {"type": "message", "role": "assistant", "content": blocks,
                "stop_reason": "tool_use"}  # fmt: skip
    if api == "chat":
        function = {"name": "look", "arguments": "{}"}
        calls = [{"type": "function", **one, "function": function} for one in own]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        return {"choices": [{"finish_reason": "tool_calls", "message": message}]}
    items = [{"type": "function_call", **one, "name": "look", "arguments": "{}"} for one in own]
    return {"status": "completed", "output": items}


def run(model: Model, turns: Sequence[Turn] = ()) -> Transcript:
    session = MemorySession()
    conversation = ModelConversation(a_case(turns=tuple(turns)), model, session)
    anyio.run(conversation.run)
    return conversation.build_transcript()


def hold(transcript: Transcript) -> list[str]:
    """Hold that ids of requests, answers and calls are the same, and unique; return them."""
    replies = [one.reply for one in transcript.messages if isinstance(one, AssistantMessage)]
    asked = [request.id for reply in replies for request in reply.tool_requests]
    told = [
        answer.request_id
        for one in transcript.messages
        if isinstance(one, ToolMessage)
        for answer in one.answers
    ]
    assert asked == told == [call.request_id for call in transcript.tool_calls]
    assert len(set(asked)) == len(asked)
    assert all(one.strip() for one in asked)
    return asked


@given(api=st.sampled_from(APIS), turns=Turns)
def test_ids_are_unique_in_the_record_and_on_the_wire(api: Api, turns: list[list[object]]) -> None:
    script: list[Step] = [*(raw(body(api, ids)) for ids in turns), say("Done.")]

    async def conversed() -> Transcript:
        with FakeProvider(script) as provider:
            async with opened(api, provider.url) as model:
                conversation = ModelConversation(a_case(), model, MemorySession())
                await conversation.run()
            journal.extend(provider.journal)
        return conversation.build_transcript()

    journal: list[Any] = []
    transcript = anyio.run(conversed)
    assert transcript.stop == "answer", transcript.error
    asked = hold(transcript)
    assert [request.rejected for request in journal] == [None] * len(script)
    # Each request answers the calls of the reply before it.
    assert [one.id for request in journal for one in request.tool_results] == asked
    given_ids = [one for ids in turns for one in ids]
    for place, (one, own) in enumerate(zip(given_ids, asked, strict=True)):
        unused = isinstance(one, str) and one.strip() and one not in asked[:place]
        assert not unused or own == one  # the endpoint's own id, where it can be


def test_ids_are_unique_over_conversations_that_begin_anew() -> None:
    def asks() -> Reply:
        request = ToolRequest(id="call_0", tool="look", arguments={})
        return Reply(tool_requests=(request,), stop="tool_calls", native={"id": "call_0"})

    model = ScriptedModel(asks(), Reply(text="One."), asks(), Reply(text="Two."))
    asked = hold(run(model, [Turn(prompt="a"), Turn(prompt="b", fresh=True)]))
    assert asked[0] == "call_0"
    # The model hears of its calls under the ids that it gave.
    for seen in (model.asked[1], model.asked[3]):
        answers = [one for one in seen if isinstance(one, ToolMessage)][-1].answers
        assert [one.request_id for one in answers] == ["call_0"]


@given(Turns)
def test_a_recording_with_ids_that_repeat_is_read_with_ids_that_do_not(
    turns: list[list[object]],
) -> None:
    said: list[Message] = []
    for number, ids in enumerate(turns):
        names = [one if isinstance(one, str) else "" for one in ids]
        requests = tuple(ToolRequest(id=one, tool="look", arguments={}) for one in names)
        answers = tuple(
            ToolAnswer(request_id=one, text=f"{number}/{place}") for place, one in enumerate(names)
        )
        said += [
            AssistantMessage(reply=Reply(tool_requests=requests)),
            ToolMessage(answers=answers),
        ]
    read = list(make_ids_unique([UserMessage(text="?"), *said]))
    asked: list[str] = []
    for place, message in enumerate(read):
        if isinstance(message, AssistantMessage):
            following = read[place + 1]
            assert isinstance(following, ToolMessage)
            own = [one.id for one in message.reply.tool_requests]
            assert [one.request_id for one in following.answers] == own
            asked += own
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("given_id", [None, "", " ", 7, [], "taken"])
def test_an_id_of_ours_is_one_that_every_provider_accepts(given_id: object) -> None:
    ids = CallIds()
    ids.take("taken")
    own = ids.take(given_id)
    assert own.isalnum()
    assert (len(own), own.isascii()) == (9, True)
