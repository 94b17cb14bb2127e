"""Conversations as a leaderboard's rules have them: cut short, with other tools, with a memory."""

from __future__ import annotations

import anyio
import pytest

from harness.runner.model_conversation import ModelConversation
from harness.runner.strategies import LeaderboardStrategy, get_server_contexts
from harness.sessions.session import Session
from harness.types import (
    Caller,
    Case,
    LeaderboardRules,
    Limits,
    Outcome,
    ScriptedCall,
    ToolRequest,
    Transcript,
    Turn,
    UserMessage,
)
from tests.support import MemorySession, ScriptedModel, a_case, a_tool_list, asks, says


def converse(
    case: Case, model: ScriptedModel, *sessions: MemorySession, system: str | None = None
) -> Transcript:
    by_turn: dict[int, Session] = dict(enumerate(sessions))
    strategy = LeaderboardStrategy(case.leaderboard, by_turn)
    conversation = ModelConversation(case, model, sessions[0], system, strategy=strategy)
    anyio.run(conversation.run)
    return conversation.build_transcript()


# ── One reply ────────────────────────────────────────────────────────────────────────────────


def test_one_reply_is_all_where_no_more_is_asked_for() -> None:
    model = ScriptedModel(asks(("look", {"x": 1}), ("write", {})), says("Never asked."))
    session = MemorySession()
    case = a_case(leaderboard=LeaderboardRules(one_reply=True), limits=Limits(max_replies=1))
    transcript = converse(case, model, session)
    assert (transcript.stop, transcript.replies, len(model.asked)) == ("answer", 1, 1)
    assert [call.tool for call in transcript.tool_calls] == ["look", "write"]
    assert len(session.sent) == 2


def test_otherwise_the_model_hears_of_its_calls() -> None:
    transcript = converse(
        a_case(), ScriptedModel(asks(("look", {})), says("Done.")), MemorySession()
    )
    assert (transcript.replies, transcript.answer) == (2, "Done.")


# ── Other tools from a turn on ───────────────────────────────────────────────────────────────


def test_another_session_takes_over_with_its_turn() -> None:
    first, second = MemorySession(), MemorySession()
    second.tools = a_tool_list("new")
    model = ScriptedModel(says("One."), asks(("new", {})), says("Two."))
    case = a_case(turns=(Turn(prompt="one"), Turn(prompt="two")))
    transcript = converse(case, model, first, second)
    assert [request.tool for request in first.sent] == []
    assert [request.tool for request in second.sent] == ["new"]
    assert transcript.tools == ("new",)


def test_a_server_of_many_cases_is_told_the_case_and_the_trial_turn_by_turn() -> None:
    routed = LeaderboardRules(routing={"case": "c"}, later_routing={2: {"turn": 2}})
    case = a_case(caller=Caller(user_context={"role": "hr"}), leaderboard=routed)
    first = {"role": "hr", "case": "c", "trial": "key"}
    assert get_server_contexts(case, "key") == {0: first, 2: {**first, "turn": 2}}


def test_any_other_server_is_told_who_asks_and_nothing_else() -> None:
    assert get_server_contexts(a_case(caller=Caller(user_context={"role": "hr"})), "key") == {
        0: {"role": "hr"}
    }
    assert get_server_contexts(a_case(), "key") == {0: None}


# ── What a server remembers ──────────────────────────────────────────────────────────────────

REMEMBERED = a_case(
    turns=(
        Turn(prompt="I am Ann.", fresh=True, ingest=True),
        Turn(prompt="I live in Lisbon.", ingest=True),
        Turn(prompt="Who am I?", fresh=True),
    ),
    leaderboard=LeaderboardRules(recall=ScriptedCall(tool="look", arguments={"all": True})),
)
SYSTEM = "You know {recalled}, {no more}."


def test_each_conversation_begins_with_what_is_remembered_by_then() -> None:
    model = ScriptedModel(asks(("write", {})), says("ok"), says("ok"), says("Ann"))
    session = MemorySession()
    transcript = converse(REMEMBERED, model, session, system=SYSTEM)
    assert [(request.id, request.tool) for request in session.sent] == [
        ("opening_0", "look"),
        ("call_1", "write"),
        ("opening_6", "look"),
    ]
    first, second = (f"You know result of opening_{place}, {{no more}}." for place in (0, 6))
    assert model.systems == [first, first, first, second]
    said = [message for message in transcript.messages if isinstance(message, UserMessage)]
    assert [message.recalled for message in said] == [
        "result of opening_0",
        "",
        "result of opening_6",
    ]
    # Nobody asked for these calls but the case: they are none of the model's.
    assert [call.tool for call in transcript.tool_calls] == ["write"]


def test_what_cannot_be_recalled_is_told_as_the_server_said_it() -> None:
    async def empty(request: ToolRequest) -> tuple[Outcome, str]:
        return "tool_error", f"The memory is empty ({request.id})"

    model = ScriptedModel(says("ok"), says("ok"), says("no idea"))
    transcript = converse(REMEMBERED, model, MemorySession(empty), system=SYSTEM)
    assert transcript.stop == "answer"
    assert model.systems[0] == "You know The memory is empty (opening_0), {no more}."


@pytest.mark.parametrize("outcome", ["server_lost", "timeout"])
def test_a_server_that_does_not_answer_it_ends_the_trial_as_its_own_fault(outcome: Outcome) -> None:
    async def gone(_request: ToolRequest) -> tuple[Outcome, str]:
        return outcome, "the server went away"

    model = ScriptedModel(says("never said"))
    transcript = converse(REMEMBERED, model, MemorySession(gone), system=SYSTEM)
    assert transcript.error is not None
    assert (transcript.stop, transcript.error.kind, transcript.error.message) == (
        "error",
        "server",
        "the server went away",
    )
    assert model.asked == []
