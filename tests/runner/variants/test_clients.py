"""A variant imitates the habits of clients with names and results."""

from __future__ import annotations

import re

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models import cut_result
from harness.runner.content.given_content import ResultForm
from harness.runner.model_conversation import ModelConversation
from harness.runner.variants.edits import LONGEST_NAME, client_name
from harness.types import Outcome, ToolMessage, ToolRequest
from tests.support import MemorySession, ScriptedModel, a_case, asks, says

PREFIX = "mcp__crm__"


def test_a_name_gets_the_prefix() -> None:
    assert client_name(PREFIX, "get_customer") == "mcp__crm__get_customer"


def test_without_a_prefix_no_name_is_touched() -> None:
    name = "größe.of/" + "a" * LONGEST_NAME
    assert client_name("", name) == name


def test_a_name_up_to_the_limit_is_whole_and_one_beyond_it_ends_in_its_digest() -> None:
    fitting = "a" * (LONGEST_NAME - len(PREFIX))
    assert client_name(PREFIX, fitting) == PREFIX + fitting
    cut = client_name(PREFIX, fitting + "a")
    assert re.fullmatch("mcp__crm__a{14}[0-9a-f]{40}", cut)
    assert client_name(PREFIX, fitting + "b") != cut


@given(st.text())
def test_every_name_is_one_that_the_apis_of_models_take(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", client_name(PREFIX, name))


def test_a_result_above_the_limit_is_cut_and_says_so() -> None:
    told = cut_result("word" * 2_500, 2)
    note = "[The result was cut here: it takes about 2,500 tokens, and 2 are shown.]"
    assert told == f"wordwordwor\n{note}"


@pytest.mark.parametrize(("most", "is_whole"), [(25, True), (None, True), (24, False)])
def test_the_model_is_told_a_result_whole_unless_it_is_above_the_limit(
    most: int | None, is_whole: bool
) -> None:
    async def answer(_: ToolRequest) -> tuple[Outcome, str]:
        return "ok", "word" * 25

    model = ScriptedModel(asks(("look", {})), says("done"))
    conversation = ModelConversation(
        a_case(), model, MemorySession(answer), results=ResultForm(most_tokens=most)
    )
    anyio.run(conversation.run)
    messages = conversation.build_transcript().messages
    (told,) = [one.answers[0].text for one in messages if isinstance(one, ToolMessage)]
    assert (told == "word" * 25) == is_whole
