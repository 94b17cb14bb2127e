"""Whoever looks on is told of each step, and nothing goes differently for it."""

from __future__ import annotations

import anyio

from harness.runner.model_conversation import ModelConversation
from harness.runner.strategies import InterruptedStrategy
from harness.types import Case, Interruption
from tests.support import MemorySession, ScriptedModel, a_case, asks, says


def replies() -> ScriptedModel:
    return ScriptedModel(asks(("look", {})), says("done"))


def test_the_conversation_so_far_is_told_after_each_reply_and_after_its_calls() -> None:
    told: list[tuple[int, int]] = []

    def tell() -> None:
        so_far = conversation.build_transcript()
        told.append((so_far.replies, len(so_far.tool_calls)))

    case: Case = a_case(interruption=Interruption(steering="Be quick."))
    watched = InterruptedStrategy(case.interruption)
    watched.tell = tell
    conversation = ModelConversation(case, replies(), MemorySession(), strategy=watched)
    anyio.run(conversation.run)
    assert told == [(1, 0), (1, 1), (2, 1)]
    unwatched = ModelConversation(
        case, replies(), MemorySession(), strategy=InterruptedStrategy(case.interruption)
    )
    anyio.run(unwatched.run)
    kinds = [
        [type(message) for message in one.build_transcript().messages]
        for one in (conversation, unwatched)
    ]
    assert kinds[0] == kinds[1]
