from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest

from harness.base.errors import ModelError
from harness.runner.model_conversation import ModelConversation
from harness.types import (
    AssistantMessage,
    Limits,
    Message,
    Outcome,
    Reply,
    ToolMessage,
    ToolRequest,
    Transcript,
    Turn,
    Usage,
    UserMessage,
)
from tests.clock import BOUND_S
from tests.support import MemorySession, ScriptedModel, a_case, asks, says


def converse(
    model: ScriptedModel,
    session: MemorySession | None = None,
    *,
    system: str | None = None,
    **limits: float,
) -> Transcript:
    case = a_case(limits=Limits(**limits))  # type: ignore[arg-type]
    conversation = ModelConversation(case, model, session or MemorySession(), system)
    anyio.run(conversation.run)
    return conversation.build_transcript()


def test_an_answer_without_calls_ends_the_conversation() -> None:
    transcript = converse(ScriptedModel(says("42")))
    assert (transcript.stop, transcript.answer, transcript.replies) == ("answer", "42", 1)


def test_every_turn_carries_the_whole_conversation() -> None:
    model = ScriptedModel(asks(("look", {})), asks(("look", {})), says("done"))
    converse(model)
    assert [len(conversation) for conversation in model.asked] == [1, 3, 5]
    assert all(conversation[0] == UserMessage(text="question") for conversation in model.asked)


def test_every_call_of_a_reply_is_answered_in_its_order() -> None:
    async def slow_first(request: ToolRequest) -> tuple[Outcome, str]:
        if request.id == "call_1":
            await second_done.wait()
        else:
            second_done.set()
        return "ok", request.id

    second_done = anyio.Event()
    model = ScriptedModel(asks(("look", {"a": 1}), ("look", {"a": 2})), says("done"))
    transcript = converse(model, MemorySession(slow_first))
    message = transcript.messages[2]
    assert isinstance(message, ToolMessage)
    assert [answer.request_id for answer in message.answers] == ["call_1", "call_2"]


def test_calls_of_one_reply_run_side_by_side() -> None:
    waiting, everyone = 0, anyio.Event()

    async def all_meet(_request: ToolRequest) -> tuple[Outcome, str]:
        nonlocal waiting
        waiting += 1
        if waiting == 3:
            everyone.set()
        with anyio.fail_after(BOUND_S):
            await everyone.wait()
        return "ok", ""

    model = ScriptedModel(asks(("look", {}), ("look", {}), ("look", {})), says("done"))
    assert converse(model, MemorySession(all_meet)).stop == "answer"


def test_the_system_prompt_reaches_the_model_every_turn() -> None:
    model = ScriptedModel(asks(("look", {})), says("done"))
    converse(model, system="be brief")
    assert model.systems == ["be brief", "be brief"]


def test_an_endless_tool_loop_ends_at_the_turn_limit_and_its_last_call_is_not_sent() -> None:
    session = MemorySession()
    transcript = converse(ScriptedModel(asks(("look", {}))), session, max_replies=3)
    assert (transcript.stop, transcript.replies, len(session.sent)) == ("reply_limit", 3, 2)
    assert [call.outcome for call in transcript.tool_calls] == ["ok", "ok", "blocked"]


def test_a_thousand_calls_in_one_reply_are_recorded_and_none_is_sent() -> None:
    session = MemorySession()
    transcript = converse(ScriptedModel(asks(*[("look", {})] * 1000)), session, max_calls=100)
    assert (transcript.stop, len(session.sent), len(transcript.tool_calls)) == (
        "call_limit",
        0,
        1000,
    )
    assert {call.outcome for call in transcript.tool_calls} == {"blocked"}


def test_the_token_limit_ends_the_conversation_even_at_an_answer() -> None:
    assert converse(ScriptedModel(says("42")), max_tokens=14).stop == "token_limit"
    assert converse(ScriptedModel(says("42")), max_tokens=15).stop == "answer"


def test_the_cost_limit_ends_the_conversation() -> None:
    assert converse(ScriptedModel(asks(("look", {}))), max_cost_usd=0.025).stop == "cost_limit"


def test_a_reply_cut_at_its_token_bound_is_no_answer() -> None:
    transcript = converse(ScriptedModel(Reply(text="half an ans", stop="max_tokens")))
    assert (transcript.stop, transcript.answer) == ("max_tokens", "half an ans")


def test_calls_of_a_cut_reply_are_not_sent() -> None:
    session = MemorySession()
    cut = Reply(
        tool_requests=(ToolRequest(id="1", tool="write", malformed='{"a": '),), stop="max_tokens"
    )
    assert converse(ScriptedModel(cut), session).stop == "max_tokens"
    assert session.sent == []


def test_a_reply_that_ended_for_an_unknown_reason_is_an_error_and_its_calls_are_not_sent() -> None:
    session = MemorySession()
    odd = asks(("write", {}), text="Hm.")
    transcript = converse(ScriptedModel(replace(odd, stop="other", stop_detail="pause")), session)
    assert transcript.error is not None
    assert (transcript.stop, transcript.error.kind, session.sent) == ("error", "provider", [])
    assert "unknown reason: pause" in transcript.error.message
    assert transcript.usage.tokens == 15


def test_what_a_reply_used_that_is_unusable_is_counted_and_may_be_unknown() -> None:
    failed = ModelError("no reply", usage=Usage(input_tokens=3, output_tokens=2, cost_usd=None))
    used = converse(ScriptedModel(asks(("look", {})), failed)).usage
    assert (used.input_tokens, used.output_tokens, used.cost_usd) == (13, 7, None)


def test_a_refusal_is_told_apart_from_an_answer() -> None:
    transcript = converse(ScriptedModel(Reply(text="I won't.", stop="refusal")))
    assert (transcript.stop, transcript.answer) == ("refusal", "I won't.")


async def _never(_conversation: Sequence[Message]) -> Reply:
    await anyio.sleep_forever()
    raise AssertionError


def test_a_model_that_never_replies_is_an_error_at_the_deadline() -> None:
    transcript = converse(ScriptedModel(_never), timeout_s=0.05)
    assert transcript.stop == "error"
    assert transcript.error is not None
    assert transcript.error.kind == "model"


def test_a_conversation_that_takes_too_long_ends_at_the_time_limit() -> None:
    transcript = converse(ScriptedModel(asks(("look", {})), _never), timeout_s=0.1)
    assert (transcript.stop, transcript.replies) == ("time_limit", 1)
    assert transcript.latency_s >= 0.1


def test_a_call_that_was_cut_off_is_recorded_all_the_same() -> None:
    async def hang(_request: ToolRequest) -> tuple[Outcome, str]:
        await anyio.sleep_forever()
        raise AssertionError

    transcript = converse(
        ScriptedModel(asks(("write", {"a": 1}))), MemorySession(hang), timeout_s=0.1
    )
    assert transcript.stop == "time_limit"
    assert [(call.tool, call.outcome) for call in transcript.tool_calls] == [("write", "timeout")]
    assert transcript.stderr_tail == "last words"


def test_a_model_error_keeps_what_happened_before() -> None:
    failure = ModelError("the API is down", attempts=4, waited_s=2.5)
    transcript = converse(ScriptedModel(asks(("look", {})), failure))
    assert transcript.stop == "error"
    assert transcript.error is not None
    assert transcript.error.message == "the API is down"
    assert (len(transcript.tool_calls), transcript.waited_s) == (1, 2.5)


def test_a_lost_server_ends_the_conversation_as_an_error_of_the_server() -> None:
    async def die(_request: ToolRequest) -> tuple[Outcome, str]:
        session.loss_reason = "the server exited with code 1"
        return "server_lost", "gone"

    session = MemorySession(die)
    transcript = converse(ScriptedModel(asks(("look", {})), says("never said")), session)
    assert transcript.stop == "error"
    assert transcript.error is not None
    assert (transcript.error.kind, transcript.error.detail) == ("server", "last words")


def test_an_interrupted_conversation_gives_up_what_happened() -> None:
    async def interrupted() -> Transcript:
        conversation = ModelConversation(
            a_case(), ScriptedModel(asks(("look", {})), _never), MemorySession()
        )
        with anyio.move_on_after(0.1):
            await conversation.run()
        return conversation.build_transcript()

    transcript = anyio.run(interrupted)
    assert (transcript.stop, len(transcript.tool_calls)) == ("cancelled", 1)


def test_usage_is_summed_and_waiting_is_kept_apart() -> None:
    transcript = converse(
        ScriptedModel(asks(("look", {}), waited_s=1.5), says("done", waited_s=0.5))
    )
    assert (transcript.usage.input_tokens, transcript.usage.output_tokens) == (20, 10)
    assert transcript.usage.cost_usd == pytest.approx(0.02)
    assert transcript.waited_s == 2.0


def test_what_a_model_claims_to_have_done_is_no_call() -> None:
    transcript = converse(
        ScriptedModel(says('I called write({"a": 1}).\n```json\n{"tool": "write"}\n```'))
    )
    assert transcript.tool_calls == ()
    assert isinstance(transcript.messages[-1], AssistantMessage)


# ── Several turns ────────────────────────────────────────────────────────────────────────────


def talk(model: ScriptedModel, *prompts: str, **limits: float) -> Transcript:
    turns = tuple(Turn(prompt=prompt) for prompt in prompts)
    case = a_case(prompt=prompts[0], turns=turns, limits=Limits(**limits))  # type: ignore[arg-type]
    conversation = ModelConversation(case, model, MemorySession())
    anyio.run(conversation.run)
    return conversation.build_transcript()


def test_the_user_goes_on_when_the_model_has_answered() -> None:
    model = ScriptedModel(asks(("look", {})), says("one"), says("two"))
    transcript = talk(model, "first", "second")
    assert [len(conversation) for conversation in model.asked] == [1, 3, 5]
    assert [
        message.text for message in transcript.messages if isinstance(message, UserMessage)
    ] == ["first", "second"]
    assert (transcript.answer, transcript.stop, transcript.replies) == ("two", "answer", 3)


def test_the_user_goes_on_after_a_refusal() -> None:
    transcript = talk(
        ScriptedModel(says("never", stop="refusal"), says("gladly")), "delete it", "show it"
    )
    assert (transcript.answer, transcript.stop) == ("gladly", "answer")


def test_what_the_user_says_later_has_its_time() -> None:
    async def slow(_conversation: Sequence[Message]) -> Reply:
        await anyio.sleep(0.02)
        return says("one")

    first, second = (
        message
        for message in talk(ScriptedModel(slow, says("two")), "first", "second").messages
        if isinstance(message, UserMessage)
    )
    assert first.said_s == 0
    assert second.said_s >= 0.02


def test_every_reply_has_the_time_when_it_was_asked_for_and_the_time_when_it_came() -> None:
    async def noting(conversation: Sequence[Message]) -> Reply:
        noted.append(anyio.current_time())
        await anyio.sleep(0.01)
        noted.append(anyio.current_time())
        return says("done") if len(conversation) > 1 else asks(("look", {}))

    async def noting_too(_request: ToolRequest) -> tuple[Outcome, str]:
        noted.append(anyio.current_time())
        return "ok", ""

    noted: list[float] = []
    transcript = converse(ScriptedModel(noting, noting), MemorySession(noting_too))
    first, second = (one for one in transcript.messages if isinstance(one, AssistantMessage))
    recorded = [first.asked_s, first.answered_s, second.asked_s, second.answered_s]
    assert None not in recorded
    asked, answered, asked_again, answered_again = (one or 0.0 for one in recorded)
    began, came, called, began_again, came_again = (one - noted[0] for one in noted)
    rounding = 2e-6
    # The epoch is unknown here: what lies between is compared, and nothing may lie outside.
    assert answered - asked >= came - began - rounding
    assert asked_again - asked >= called - began - rounding
    assert asked_again - answered <= began_again - came + rounding
    assert answered_again - asked_again >= came_again - began_again - rounding
    assert 0 <= asked <= answered <= asked_again <= answered_again <= transcript.latency_s + 2e-6


def test_a_limit_ends_the_whole_conversation() -> None:
    transcript = talk(ScriptedModel(asks(("look", {}))), "first", "second", max_replies=2)
    assert transcript.stop == "reply_limit"
    assert sum(isinstance(message, UserMessage) for message in transcript.messages) == 1


def test_the_limit_of_turns_holds_over_everything_that_the_user_says() -> None:
    model = ScriptedModel(says("one"))
    transcript = talk(model, "first", "second", "third", max_replies=2)
    assert (transcript.stop, len(model.asked)) == ("reply_limit", 2)


def test_an_earlier_answer_is_no_answer_to_what_was_said_last() -> None:
    transcript = talk(
        ScriptedModel(says("one"), asks(("look", {}))), "first", "second", max_replies=3
    )
    assert (transcript.stop, transcript.answer) == ("reply_limit", "")
