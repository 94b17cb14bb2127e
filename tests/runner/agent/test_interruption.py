"""What is said and done to a conversation while it is under way."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from harness.runner import strategies
from harness.runner.model_conversation import ModelConversation
from harness.runner.strategies import InterruptedStrategy
from harness.types import (
    Case,
    Interruption,
    Limits,
    Outcome,
    ToolMessage,
    ToolRequest,
    Transcript,
    Usage,
    UserMessage,
)
from tests.fake_provider import FakeProvider, call, say
from tests.models.support import APIS, Api, opened
from tests.support import MemorySession, ScriptedModel, a_case, asks, says


def converse(case: Case, model: ScriptedModel, session: MemorySession | None = None) -> Transcript:
    strategy = InterruptedStrategy(case.interruption)
    conversation = ModelConversation(case, model, session or MemorySession(), strategy=strategy)
    anyio.run(conversation.run)
    return conversation.build_transcript()


def said(transcript: Transcript) -> list[str]:
    return [message.text for message in transcript.messages if isinstance(message, UserMessage)]


def test_a_case_has_its_message_said_after_the_first_reply() -> None:
    model = ScriptedModel(asks(("look", {})), says("done"))
    transcript = converse(a_case(interruption=Interruption(steering="Be quick.")), model)
    assert said(transcript) == ["question", "Be quick."]
    assert isinstance(
        transcript.messages[2], ToolMessage
    )  # every call is answered before anybody speaks
    assert [len(conversation) for conversation in model.asked] == [1, 4]


def test_what_is_said_after_an_answer_gets_another_one() -> None:
    transcript = converse(
        a_case(interruption=Interruption(steering="And now?")),
        ScriptedModel(says("early"), says("late")),
    )
    assert (transcript.answer, transcript.replies, transcript.stop) == ("late", 2, "answer")


def test_what_is_said_during_a_call_is_heard_with_its_result() -> None:
    async def interrupted(_request: ToolRequest) -> tuple[Outcome, str]:
        conversation.add_message("First this.")
        conversation.add_message("Then that.")
        return "ok", ""

    model = ScriptedModel(asks(("look", {})), says("done"))
    conversation = ModelConversation(a_case(), model, MemorySession(interrupted))
    anyio.run(conversation.run)
    assert said(conversation.build_transcript()) == ["question", "First this.", "Then that."]
    assert conversation.build_transcript().messages[3] in model.asked[1]


def test_nothing_is_heard_beyond_the_limit_of_turns() -> None:
    case = a_case(interruption=Interruption(steering="And now?"), limits=Limits(max_replies=1))
    transcript = converse(case, ScriptedModel(says("early")))
    assert (transcript.stop, transcript.replies, said(transcript)) == (
        "reply_limit",
        1,
        ["question"],
    )


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("first", ["call", "answer"])
def test_every_api_accepts_what_is_said_in_between(api: Api, first: str) -> None:
    async def run() -> Transcript:
        async with opened(api, provider.url) as model:
            steered = InterruptedStrategy(Interruption(steering="In one word."))
            conversation = ModelConversation(a_case(), model, MemorySession(), strategy=steered)
            await conversation.run()
            return conversation.build_transcript()

    script = [call("look", {}) if first == "call" else say("It is a long story."), say("Blue.")]
    with FakeProvider(script) as provider:
        transcript = anyio.run(run)
        assert [request.rejected for request in provider.journal] == [None, None]
        assert "In one word." in str(provider.journal[1].body)
    assert transcript.answer == "Blue."


# ── Aborting ─────────────────────────────────────────────────────────────────────────────────


def test_an_aborted_run_keeps_what_was_under_way_and_asks_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strategies, "ABORT_AFTER_S", 0.05)
    cancelled = anyio.Event()

    async def hang(_request: ToolRequest) -> tuple[Outcome, str]:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        raise AssertionError

    model = ScriptedModel(asks(("look", {}), text="Let me see."), says("never said"))
    transcript = converse(a_case(interruption=Interruption(abort=True)), model, MemorySession(hang))
    assert (transcript.stop, transcript.error, transcript.answer) == ("aborted", None, "")
    assert [(made.tool, made.outcome) for made in transcript.tool_calls] == [("look", "timeout")]
    assert len(model.asked) == 1
    assert cancelled.is_set()


def test_a_model_that_calls_nothing_answers_as_ever() -> None:
    assert (
        converse(a_case(interruption=Interruption(abort=True)), ScriptedModel(says("42"))).stop
        == "answer"
    )


# ── Own prices ───────────────────────────────────────────────────────────────────────────────


def priced(price: Callable[[Usage], Usage], **limits: float) -> Transcript:
    case = a_case(limits=Limits(**limits))  # type: ignore[arg-type]
    conversation = ModelConversation(
        case, ScriptedModel(asks(("look", {})), says("42")), MemorySession(), None, price
    )
    anyio.run(conversation.run)
    return conversation.build_transcript()


def flat(usage: Usage) -> Usage:
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return Usage(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cost_usd=1.0 + tokens
    )


def test_a_price_of_ones_own_is_put_on_all_that_was_used() -> None:
    assert priced(flat).usage == Usage(input_tokens=20, output_tokens=10, cost_usd=31.0)


def test_the_limit_of_cost_goes_by_it() -> None:
    assert priced(flat, max_cost_usd=15.0).stop == "cost_limit"
