"""What a server remembers, read at the start of each conversation for its system prompt."""

from __future__ import annotations

import anyio

from harness.agent import Conversation
from harness.types import Outcome, ScriptedCall, ToolRequest, Transcript, Turn, UserMessage
from tests.support import MemorySession, ScriptedModel, a_case, asks, says

TURNS = (
    Turn(prompt="I am Ann.", fresh=True, ingest=True),
    Turn(prompt="I live in Lisbon.", ingest=True),
    Turn(prompt="Who am I?", fresh=True),
)


def converse(model: ScriptedModel, session: MemorySession) -> Transcript:
    case = a_case(turns=TURNS, recall=ScriptedCall(tool="look", arguments={"all": True}))
    conversation = Conversation(case, model, session, "You know {recalled}, {no more}.")
    anyio.run(conversation.run)
    return conversation.transcript()


def test_each_conversation_begins_with_what_is_remembered_by_then() -> None:
    model = ScriptedModel(asks(("write", {})), says("ok"), says("ok"), says("Ann"))
    session = MemorySession()
    transcript = converse(model, session)
    assert [(request.id, request.tool) for request in session.sent] == [
        ("recall_0", "look"),
        ("call_1", "write"),
        ("recall_6", "look"),
    ]
    first, second = (f"You know result of recall_{place}, {{no more}}." for place in (0, 6))
    assert model.systems == [first, first, first, second]
    said = [message for message in transcript.messages if isinstance(message, UserMessage)]
    assert [message.recalled for message in said] == [
        "result of recall_0",
        "",
        "result of recall_6",
    ]
    # Nobody asked for these calls but the case: they are none of the model's.
    assert [call.tool for call in transcript.tool_calls] == ["write"]


def test_what_cannot_be_recalled_is_told_as_the_server_said_it() -> None:
    async def empty(request: ToolRequest) -> tuple[Outcome, str]:
        return "tool_error", f"The memory is empty ({request.id})"

    model = ScriptedModel(says("ok"), says("ok"), says("no idea"))
    transcript = converse(model, MemorySession(empty))
    assert transcript.stop == "answer"
    assert model.systems[0] == "You know The memory is empty (recall_0), {no more}."


def test_a_server_that_is_lost_while_it_is_asked_ends_the_trial_as_its_own_fault() -> None:
    async def gone(_request: ToolRequest) -> tuple[Outcome, str]:
        return "server_lost", "the server went away"

    model = ScriptedModel(says("never said"))
    transcript = converse(model, MemorySession(gone))
    assert transcript.error is not None
    assert (transcript.stop, transcript.error.kind, transcript.error.message) == (
        "error",
        "server",
        "the server went away",
    )
    assert model.asked == []
