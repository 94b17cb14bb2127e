"""Conversations that a leaderboard cuts short, or in which other tools come along."""

from __future__ import annotations

import pytest

from harness.agent import Conversation
from harness.types import Limits, Turn
from tests.support import MemorySession, ScriptedModel, a_case, a_tool_list, asks, says

pytestmark = pytest.mark.anyio


async def test_one_reply_is_all_where_no_more_is_asked_for() -> None:
    model, session = (
        ScriptedModel(asks(("look", {"x": 1}), ("write", {})), says("Never asked.")),
        MemorySession(),
    )
    conversation = Conversation(
        a_case(one_reply=True, limits=Limits(max_replies=1)), model, session
    )
    await conversation.run()
    transcript = conversation.transcript()
    assert (transcript.stop, transcript.replies, len(model.asked)) == ("answer", 1, 1)
    assert [call.tool for call in transcript.tool_calls] == ["look", "write"]
    assert len(session.sent) == 2


async def test_otherwise_the_model_hears_of_its_calls() -> None:
    model, session = ScriptedModel(asks(("look", {})), says("Done.")), MemorySession()
    conversation = Conversation(a_case(), model, session)
    await conversation.run()
    assert (conversation.transcript().replies, conversation.transcript().answer) == (2, "Done.")


async def test_another_session_takes_over_with_its_turn() -> None:
    first, second = MemorySession(), MemorySession()
    second.tools = a_tool_list("new")
    model = ScriptedModel(says("One."), asks(("new", {})), says("Two."))
    case = a_case(turns=(Turn(prompt="one"), Turn(prompt="two")))
    conversation = Conversation(case, model, first, later={1: second})
    await conversation.run()
    assert (
        [request.tool for request in first.sent],
        [request.tool for request in second.sent],
    ) == ([], ["new"])
    assert conversation.transcript().tools == ("new",)
