"""What a description says of changes that a tool makes besides reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tool_text.side_effects import has_side_effect

DOES = ("deletes", "creates", "invalidates", "notifies", "archives", "removes", "renames")
PAST = ("deleted", "created", "invalidated", "notified", "archived", "removed", "renamed")


@given(
    st.sampled_from(["Get the orders", "Returns all orders", "List orders by date"]),
    st.sampled_from(
        [". {} one", " and {} it", " ({} it if needed)", ", {} it", ". It also {} one"]
    ),
    st.sampled_from(DOES),
)
def test_a_second_verb_is_a_side_effect(reads: str, form: str, verb: str) -> None:
    assert has_side_effect(reads + form.format(verb))


@given(
    st.sampled_from(
        ["The orders are {}.", "If none exists, one is {}.", "It will be {} afterwards."]
    ),
    st.sampled_from(PAST),
)
def test_what_is_done_to_things_is_a_side_effect(form: str, done: str) -> None:
    assert has_side_effect(f"Get the orders. {form.format(done)}")


@given(
    st.sampled_from(
        [
            "Get orders that are {}.",
            "Get an order. Fails if the order is {}.",
            "Get orders. Use this before an order is {}.",
            "Get an order. It is not {}.",
            "Get {} orders.",
            "Get the list of users who were {}.",
            "Get what can be {}.",
        ]
    ),
    st.sampled_from(PAST),
)
def test_a_state_or_a_condition_is_none(form: str, done: str) -> None:
    assert not has_side_effect(form.format(done))


@pytest.mark.parametrize(
    "description",
    [
        "Get the value of a key, optionally setting its expiration.",
        "Get a share link for a file, making it public",
        "Gets a link; the file becomes public.",
        "List jobs - also prunes finished ones",
        "Fetches mail. Messages will be removed from the server.",
    ],
)
def test_further_forms_of_saying_it(description: str) -> None:
    assert has_side_effect(description)
