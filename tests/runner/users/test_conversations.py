from collections.abc import Sequence

import anyio
import pytest

from harness.base.errors import ModelError
from harness.runner.model_conversation import ModelConversation
from harness.runner.users import GUIDELINES, RecordedUser, build_speaker
from harness.types import (
    AssistantMessage,
    Limits,
    Message,
    SimulatedUser,
    Stop,
    Transcript,
    Turn,
    UserMessage,
)
from harness.types.cases import GREETING
from tests.support import MemorySession, ScriptedModel, a_case, asks, says


def converse(
    agent: ScriptedModel, user: SimulatedUser, player: ScriptedModel | None = None, **limits: float
) -> Transcript:
    case = a_case(user=user, limits=Limits(**limits))  # type: ignore[arg-type]
    voice = build_speaker(user, player, "suite::case#1")
    conversation = ModelConversation(case, agent, MemorySession(), "policy", speaker=voice)
    anyio.run(conversation.run)
    return conversation.build_transcript()


def said(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserMessage)]


SCENARIO = SimulatedUser(scenario="You want a refund for order 7.")


def test_each_side_sees_the_other_as_the_one_who_talks_to_it() -> None:
    agent = ScriptedModel(says("Which order?"), says("Refunded."))
    player = ScriptedModel(says("A refund, please."), says("Order 7."), says("###STOP###"))
    converse(agent, SCENARIO, player)
    assert [said(asked) for asked in agent.asked] == [
        ["A refund, please."],
        ["A refund, please.", "Order 7."],
    ]
    assert [said(asked) for asked in player.asked] == [
        [GREETING],
        [GREETING, "Which order?"],
        [GREETING, "Which order?", "Refunded."],
    ]


def test_the_user_never_sees_tools_calls_results_or_what_is_said_beside_a_call() -> None:
    agent = ScriptedModel(asks(("look", {"id": 7}), text="Let me look."), says("Refunded."))
    player = ScriptedModel(says("A refund, please."), says("###STOP###"))
    transcript = converse(agent, SCENARIO, player)
    assert len(transcript.tool_calls) == 1
    assert said(player.asked[-1]) == [GREETING, "Refunded."]
    assert all(isinstance(message, UserMessage | AssistantMessage) for message in player.asked[-1])


def test_the_scenario_is_told_to_the_user_and_never_to_the_agent() -> None:
    agent, player = ScriptedModel(says("Hello.")), ScriptedModel(says("Hi."), says("###STOP###"))
    converse(agent, SCENARIO, player)
    assert player.systems[0] == f"{GUIDELINES}\n<scenario>\n{SCENARIO.scenario}\n</scenario>"
    assert agent.systems == ["policy"]
    assert "refund" not in repr(agent.asked)


def test_own_guidelines_replace_the_built_in_ones() -> None:
    player = ScriptedModel(says("###STOP###"))
    converse(ScriptedModel(says("…")), SimulatedUser(scenario="S", guidelines="Be rude."), player)
    assert player.systems == ["Be rude.\n<scenario>\nS\n</scenario>"]


def test_a_first_message_is_said_without_asking_who_plays_the_user() -> None:
    agent, player = ScriptedModel(says("Which?")), ScriptedModel(says("###STOP###"))
    transcript = converse(agent, SimulatedUser(scenario="S", first_message="A refund."), player)
    assert said(transcript.messages) == ["A refund.", "###STOP###"]
    assert len(player.asked) == 1


@pytest.mark.parametrize(
    ("last", "stop"),
    [
        ("Thanks. ###STOP###", "user_stop"),
        ("###OUT-OF-SCOPE###", "user_stop"),
        ("###TRANSFER###", "transfer"),
    ],
)
def test_the_users_mark_ends_it_and_the_agent_is_asked_no_more(last: str, stop: Stop) -> None:
    agent = ScriptedModel(says("Done."))
    transcript = converse(agent, SCENARIO, ScriptedModel(says("Please."), says(last)))
    assert (transcript.stop, transcript.answer, len(agent.asked)) == (stop, "Done.", 1)
    assert said(transcript.messages)[-1] == last


def test_the_agents_mark_ends_it_and_the_user_is_asked_no_more() -> None:
    user = SimulatedUser(scenario="S", agent_stop_when=("Goodbye",))
    player = ScriptedModel(says("Bye."))
    transcript = converse(ScriptedModel(says("Goodbye, then.")), user, player)
    assert (transcript.stop, len(player.asked)) == ("agent_stop", 1)


def test_a_call_of_the_tool_that_hands_over_ends_it_with_the_next_answer() -> None:
    user = SimulatedUser(scenario="S", transfer_when=("look",))
    transcript = converse(
        ScriptedModel(asks(("look", {})), says("Please hold.")), user, ScriptedModel(says("Hi."))
    )
    assert (transcript.stop, transcript.answer) == ("transfer", "Please hold.")


def test_a_user_who_never_stops_is_stopped_by_their_own_limit() -> None:
    user = SimulatedUser(scenario="S", max_turns=3)
    transcript = converse(
        ScriptedModel(says("Yes?")), user, ScriptedModel(says("And another thing …"))
    )
    assert (transcript.stop, len(said(transcript.messages))) == ("user_limit", 3)


def test_a_user_who_never_stops_is_stopped_by_the_agents_limit_of_replies() -> None:
    transcript = converse(
        ScriptedModel(says("Yes?")), SCENARIO, ScriptedModel(says("Again.")), max_replies=2
    )
    assert (transcript.stop, transcript.replies) == ("reply_limit", 2)
    assert said(transcript.messages) == ["Again."] * 3  # the last was asked for and paid, too

    case = a_case(user=SCENARIO, limits=Limits(max_replies=2))
    again = ModelConversation(
        case,
        ScriptedModel(says("Yes?")),
        MemorySession(),
        speaker=RecordedUser("recorded", transcript),
    )
    anyio.run(again.run)
    assert (again.build_transcript().stop, again.build_transcript().error) == ("reply_limit", None)


def test_a_script_is_said_to_its_end_whatever_is_answered() -> None:
    user = SimulatedUser(script=("I am Ann.", "No, I am Bob.", "No, I am Bob."))
    agent = ScriptedModel(says("Hello."))
    transcript = converse(agent, user)
    assert (transcript.stop, said(transcript.messages)) == ("user_stop", list(user.script))
    assert len(agent.asked) == 3


def test_a_program_plays_a_user_who_lies_and_repeats_themself_within_the_limits() -> None:
    def liar(heard: Sequence[Message]) -> str:
        return ["I am Ann.", "I never said that.", "I am Bob."][(len(heard) // 2) % 3]

    transcript = converse(
        ScriptedModel(says("Who are you?")), SimulatedUser(code=liar, max_turns=7)
    )
    assert transcript.stop == "user_limit"
    assert said(transcript.messages)[:4] == [
        "I am Ann.",
        "I never said that.",
        "I am Bob.",
        "I am Ann.",
    ]


def test_a_program_stops_by_returning_nothing_and_may_be_a_coroutine() -> None:
    async def brief(heard: Sequence[Message]) -> str | None:
        await anyio.lowlevel.checkpoint()
        return "Hi." if len(heard) == 1 else None

    transcript = converse(ScriptedModel(says("Hello.")), SimulatedUser(code=brief))
    assert (transcript.stop, said(transcript.messages)) == ("user_stop", ["Hi."])


def test_what_the_user_took_is_kept_apart() -> None:
    player = ScriptedModel(says("Hi."), says("Why?"), says("###STOP###"))
    transcript = converse(ScriptedModel(says("Hello.")), SCENARIO, player)
    assert (transcript.usage.input_tokens, transcript.user_usage.input_tokens) == (20, 30)


@pytest.mark.parametrize("fault", [ModelError("HTTP 500"), says("  ")])
def test_a_user_that_cannot_be_played_is_an_error_of_a_model_and_says_whose(
    fault: ModelError,
) -> None:
    transcript = converse(
        ScriptedModel(says("Hello.")), SCENARIO, ScriptedModel(says("Hi."), fault)
    )
    assert transcript.error is not None
    assert (transcript.stop, transcript.error.kind) == ("error", "model")
    assert "the simulated user" in transcript.error.message


def test_a_fresh_turn_forgets_what_was_said_and_the_record_does_not() -> None:
    model = ScriptedModel(says("Noted."), says("Noted."), says("42"))
    turns = (
        Turn(prompt="It is 42."),
        Turn(prompt="Also, it is red."),
        Turn(prompt="What is it?", fresh=True),
    )
    conversation = ModelConversation(a_case(turns=turns), model, MemorySession())
    anyio.run(conversation.run)
    transcript = conversation.build_transcript()
    assert [said(asked) for asked in model.asked] == [
        ["It is 42."],
        ["It is 42.", "Also, it is red."],
        ["What is it?"],
    ]
    assert [
        message.fresh for message in transcript.messages if isinstance(message, UserMessage)
    ] == [
        False,
        False,
        True,
    ]
