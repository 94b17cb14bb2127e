"""What a description says of changes that a tool makes besides reading."""

from __future__ import annotations

from itertools import product

import pytest

from harness.models.tool_text.permission import has_side_effect

DOES = ("deletes", "creates", "invalidates", "notifies", "archives", "removes", "renames")
PAST = ("deleted", "created", "invalidated", "notified", "archived", "removed", "renamed")


def test_a_second_verb_is_a_side_effect() -> None:
    reads = ("Get the orders", "Returns all orders", "List orders by date")
    forms = (". {} one", " and {} it", " ({} it if needed)", ", {} it", ". It also {} one")
    for read, form, verb in product(reads, forms, DOES):
        assert has_side_effect(read + form.format(verb))


@pytest.mark.parametrize(
    "form",
    [
        "The orders are {}.",
        "Finished orders get {}.",
        "If none exists, one is {}.",
        "It will be {} afterwards.",
    ],
)
def test_what_is_done_to_things_is_a_side_effect(form: str) -> None:
    assert all(has_side_effect(f"Get the orders. {form.format(done)}") for done in PAST)


@pytest.mark.parametrize(
    "form",
    [
        "Get orders that are {}.",
        "Get an order. Fails if the order is {}.",
        "Get orders. Use this before an order is {}.",
        "Get an order. It is not {}.",
        "Get {} orders.",
        "Gets {} orders.",
        "This tool gets {} orders.",
        "Get the list of users who were {}.",
        "Get what can be {}.",
    ],
)
def test_a_state_or_a_condition_is_none(form: str) -> None:
    assert not any(has_side_effect(form.format(done)) for done in PAST)


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


def test_the_end_of_an_endless_description_is_not_known() -> None:
    assert has_side_effect("Get the orders by date. " * 1_000)
    assert not has_side_effect("Get x. Fails if it deletes a " * 600)
