"""A simulated user who has tools of their own, on the server that the model under test uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from harness.base import HarnessError
from harness.runner.model_conversation import ModelConversation
from harness.runner.recordings.replay_on_server import execute_recording
from harness.runner.user_tools import give_toolbox, withhold_tools
from harness.runner.users import MOST_CALLS, RecordedUser, build_speaker
from harness.types import (
    AssistantMessage,
    SimulatedUser,
    ToolMessage,
    ToolRequest,
    Transcript,
    UserMessage,
)
from tests.support import MemorySession, ScriptedModel, a_case, asks, says

OWNER = SimulatedUser(scenario="Your phone is broken.", tools=("look",))


def converse(
    agent: ScriptedModel, player: ScriptedModel, session: MemorySession | None = None
) -> Transcript:
    session = session or MemorySession()
    toolbox = give_toolbox(session, OWNER)
    voice = build_speaker(OWNER, player, "suite::case#1", toolbox)
    rest = withhold_tools(session, OWNER)
    conversation = ModelConversation(a_case(user=OWNER), agent, rest, speaker=voice)
    anyio.run(conversation.run)
    return conversation.build_transcript()


def test_the_users_calls_are_recorded_apart_and_the_agent_sees_none_of_them() -> None:
    agent = ScriptedModel(says("What does it show?"), asks(("write", {})), says("Mended."))
    player = ScriptedModel(
        says("It is broken."), asks(("look", {"at": 1})), says("A bar."), says("###STOP###")
    )
    transcript = converse(agent, player)
    assert transcript.stop == "user_stop"
    assert [(call.tool, call.reply, call.arguments) for call in transcript.user_calls] == [
        ("look", 1, {"at": 1})
    ]
    assert [(call.tool, call.reply) for call in transcript.tool_calls] == [("write", 2)]
    said = [one.text for one in transcript.messages if isinstance(one, UserMessage)]
    assert said == ["It is broken.", "A bar.", "###STOP###"]
    assert "look" not in repr(agent.asked)
    (answered,) = [one for one in player.asked[-1] if isinstance(one, ToolMessage)]
    assert answered.answers[0].text.startswith("result of")
    assert transcript.user_usage.input_tokens == 40


def test_each_side_has_only_its_own_tools() -> None:
    session = MemorySession()
    toolbox, rest = give_toolbox(session, OWNER), withhold_tools(session, OWNER)
    assert toolbox is not None
    assert [tool.name for tool in toolbox.tools.tools] == ["look"]
    assert [tool.name for tool in rest.tools.tools] == ["write"]

    async def try_the_others_tool() -> list[Any]:
        request = ToolRequest(id="1", tool="look")
        return [
            await rest.call(request, reply=1, epoch=0.0),
            await toolbox.call_tool(ToolRequest(id="2", tool="write")),
        ]

    for call in anyio.run(try_the_others_tool):
        assert (call.outcome, call.text) == (
            "unknown_tool",
            f"Error: Tool '{call.tool}' not found.",
        )
    assert session.sent == []


def test_without_tools_of_the_user_nothing_is_withheld() -> None:
    session = MemorySession()
    talker = SimulatedUser(scenario="You only talk.")
    assert give_toolbox(session, talker) is None
    assert withhold_tools(session, talker) is session
    assert withhold_tools(session, None) is session


def test_a_tool_that_the_server_does_not_have_is_told() -> None:
    user = SimulatedUser(scenario="S", tools=("look", "lick"))
    with pytest.raises(HarnessError, match=r"no tool 'lick'.* It offers: look, write"):
        give_toolbox(MemorySession(), user)


def test_a_user_who_only_makes_calls_ends_the_trial_and_is_paid() -> None:
    transcript = converse(ScriptedModel(says("Yes?")), ScriptedModel(asks(("look", {}))))
    assert transcript.error is not None
    assert f"made {MOST_CALLS} calls without a word" in transcript.error.message
    assert transcript.user_usage.input_tokens == 10 * (MOST_CALLS + 1)
    assert len(transcript.user_calls) == MOST_CALLS + 1


def _converse_once() -> Transcript:
    agent = ScriptedModel(says("What does it show?"), says("Good."))
    player = ScriptedModel(
        asks(("look", {"at": 0})),
        says("Broken."),
        asks(("look", {"at": 1}), ("look", {"at": 2})),
        says("A bar. ###STOP###"),
    )
    return converse(agent, player)


def list_arguments(requests: Sequence[ToolRequest]) -> list[Any]:
    return [request.arguments for request in requests]


def test_a_recorded_user_makes_the_same_calls_at_the_same_places() -> None:
    recorded, session = _converse_once(), MemorySession()
    toolbox = give_toolbox(session, OWNER)
    voice = RecordedUser("recorded", recorded, toolbox)
    agent = ScriptedModel(says("What does it show?"), says("Good."))
    again = ModelConversation(a_case(user=OWNER), agent, session, speaker=voice)
    anyio.run(again.run)
    made = again.build_transcript().user_calls
    assert [(call.arguments, call.reply) for call in made] == [
        (call.arguments, call.reply) for call in recorded.user_calls
    ]
    assert list_arguments(session.sent) == [{"at": 0}, {"at": 1}, {"at": 2}]


def test_a_replayed_recording_makes_the_calls_of_both_sides_in_their_order() -> None:
    agent = ScriptedModel(asks(("write", {"n": 1})), says("Try."), says("Good."))
    player = ScriptedModel(says("Help."), asks(("look", {"at": 1})), says("###STOP###"))
    recorded, session = converse(agent, player), MemorySession()
    toolbox, rest = give_toolbox(session, OWNER), withhold_tools(session, OWNER)
    now, differences = anyio.run(execute_recording, recorded, rest, toolbox)
    assert list_arguments(session.sent) == [{"n": 1}, {"at": 1}]
    assert [call.tool for call in now.user_calls] == ["look"]
    assert [call.tool for call in now.tool_calls] == ["write"]
    assert [one for one in now.messages if isinstance(one, AssistantMessage)]
    assert not differences
