"""A variant imitates the habits of clients with names and results."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.runner.variants.clients import LONGEST_NAME, adapt_result, client_name
from harness.types import Variant

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
    told = adapt_result(Variant(name="v", max_result_tokens=2), "word" * 2_500)
    note = "[The result was cut here: it takes about 2,500 tokens, and 2 are shown.]"
    assert told == f"wordwordwor\n{note}"


def test_a_result_that_fits_and_one_under_no_limit_are_told_whole() -> None:
    text = "word" * 25
    assert adapt_result(Variant(name="v", max_result_tokens=25), text) == text
    assert adapt_result(Variant(name="v"), text) == text
    assert adapt_result(None, text) == text
