"""Questions of a server that belong to no call, repeat for ever, or are asked in another mode."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.sessions.pool import open_sessions
from harness.sessions.questions import AskableSession, ElicitReply, UserQuestions
from harness.types import ELICITING, Elicitation, ServerSpec, ToolCall, ToolRequest, TransportSpec
from tests.clock import BOUND_S

SERVER = str(Path(__file__).with_name("gate_server.py"))
pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ERAS = pytest.mark.parametrize("protocol", ["2026-07-28", "legacy"])


async def agree(asked: Elicitation) -> ElicitReply:
    return ElicitReply(action="accept", content={"confirm": True}, by="the test")


async def agree_by_default(asked: Elicitation) -> ElicitReply:
    return ElicitReply(action="accept", by="the test")


async def deleted(
    gate: str, protocol: Any, decide: Any = agree, after_s: float = 0.0
) -> tuple[ToolCall, list[Elicitation]]:
    """Delete a customer behind ``gate``; return the call and the questions."""
    transport = TransportSpec(
        command=sys.executable, args=(SERVER,), env={"GATE": gate}, protocol=protocol
    )
    spec = ServerSpec(name="gates", transport=transport).with_abilities(ELICITING)
    questions = UserQuestions(decide)
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(spec, None) as lent:
            session = AskableSession(lent, questions)
            async with session.listen():
                request = ToolRequest(
                    id="one", tool="delete_customer", arguments={"customer_id": "C2"}
                )
                made = await session.call(request, reply=1, epoch=anyio.current_time())
                await anyio.sleep(after_s)
    return made, questions.asked


async def test_a_question_after_the_result_is_refused_and_recorded() -> None:
    made, asked = await deleted("late", "legacy", after_s=1.0)
    assert made.outcome == "ok"
    assert [(one.message, one.flaw, one.action) for one in asked] == [
        ("Was that right?", "it came while no call was under way", "decline")
    ]


@ERAS
async def test_a_server_that_asks_for_ever_is_answered_ten_times(protocol: str) -> None:
    made, asked = await deleted("repeats", protocol)
    assert made.outcome in ("tool_error", "invalid_arguments")
    assert [one.flaw for one in asked[:10]] == [None] * 10
    assert [one.flaw for one in asked[10:]] == ["it came after 10 others in the same call"]


@ERAS
async def test_an_address_is_answered_like_a_form(protocol: str) -> None:
    made, [asked] = await deleted("url", protocol, agree_by_default)
    assert made.text == "Deleted C2"
    assert (asked.mode, asked.url, asked.content) == ("url", "https://example.org/ok", None)


@ERAS
async def test_fields_that_are_left_out_have_the_defaults_of_the_form(protocol: str) -> None:
    made, [asked] = await deleted("defaults", protocol, agree_by_default)
    assert made.text == "Deleted C2"
    assert asked.content == {"confirm": True, "reason": "asked for"}


@ERAS
async def test_the_value_of_a_secret_field_is_not_recorded(protocol: str) -> None:
    async def give_away(asked: Elicitation) -> ElicitReply:
        return ElicitReply(
            action="accept", content={"confirm": True, "password": "hunter2"}, by="the test"
        )

    made, [asked] = await deleted("secret", protocol, give_away)
    assert made.text == "Deleted C2"
    assert asked.content == {"confirm": True, "password": "[redacted]"}
    assert "hunter2" not in repr(made)
