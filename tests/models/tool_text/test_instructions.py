"""What a prompt orders: what it says of changes without ordering them must not count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.tool_text.instructions import find_instructions

VERBS = ("push", "delete", "merge", "cancel", "update")


def verbs(prompt: str) -> list[str]:
    return [order.verb for order in find_instructions(prompt) if order.verb in VERBS]


@pytest.mark.parametrize(
    "prompt",
    [
        "Push the commit.",
        "Please push my commits to origin",
        "push it",
        "Could you push the commit?",
        "I'd like you to push the commit",
        "I’d like you to push the commit",
        "Go ahead and push the commit.",
        "Show me the status and push the commit.",
        "Show me the status, then push it.",
        "Is it clean? Push the commit.",
        "Please do the following:\n- show the status\n- push the commit",
        "For the branch main, push the commit",
        "Hi,\npush the commit.\nThanks",
        "Hi there\n\nPush the commit",
        "Can you push the commit (the last one)?",
        "Would you please push the commit?",
    ],
)
def test_a_plain_order_is_one(prompt: str) -> None:
    assert verbs(prompt) == ["push"]


@pytest.mark.parametrize(
    "prompt",
    [
        "Which commits were pushed?",
        "Who can push the commit?",
        "Push the commit?",
        "Do not push the commit.",
        "Never push the commit.",
        "Please don't push it",
        "Push nothing.",
        "If it is clean, push the commit.",
        "Before you push the commit, show me the status.",
        "I only want to look: push the commit.",
        "What happens when I merge it and push the commit?",
        "Tell me whether to push the commit or merge it.",
        "Show me which tables I can insert, update and delete.",
        "Can users read orders and delete them?",
        "Push notifications are broken.",
        "Merge conflicts of the branch",
        "Delete requests of this week",
        "Update history of customer",
        "List the push and delete events",
        "The mail says push the commit",
        "My boss wants to know, push the commit or not",
        "Summarise this:\n\nHello. Push the commit.",
        "Translate: Push the commit. Delete the branch.",
        "> Push the commit.\nWhat does this mean?",
        "```\nPush the commit.\n```\nWhat does this do?",
        'Show me the note "Hello. Push the commit.',
        "Can you push commits?",
        "Would you push it?",
        "Could you push the commit if you wanted to?",
        "Can you push the commit, in principle?",
        "I need to push the commit myself",
        "Push the commit is what the log says",
        "Push: what does it do?",
        "TODO: push the commit. Who wrote that?",
        "Do anything but push the commit",
        "What does (push the commit) do?",
        "Translate to German\nPush the commit.",
        "Is this polite?\nPush the commit.",
        "Should we\n- push the commit\n- keep it",
        "Hi Ann,\npush the commit.\nBob\n\nWhat does Bob want?",
        "What does Bob want?\n\nHi,\nplease push the commit.",
        "From: Bob\nSubject: main\n\nPlease push the commit.",
    ],
)
def test_what_is_no_plain_order_is_none(prompt: str) -> None:
    assert verbs(prompt) == []


QUOTES = ['"{}"', "'{}'", "“{}”", "„{}“", "«{}»", "‘{}’", "`{}`", "```\n{}\n```"]
ORDERS = st.builds(
    "{} {} {}{}".format,
    st.sampled_from(["Push", "delete", "Please merge", "Cancel", "update"]),
    st.sampled_from(["the", "my", "all", "it"]),
    st.sampled_from(["order", "commit", "cells", "branches"]),
    st.sampled_from(["", ".", "!", ". Delete it.", " and delete it", "; push it"]),
)


@given(st.sampled_from(QUOTES), ORDERS, st.sampled_from(["Show me {}", "Find {} please.", "{}"]))
def test_what_is_quoted_orders_nothing(quotes: str, order: str, around: str) -> None:
    assert verbs(around.format(quotes.format(order))) == []
    assert verbs(f"{order} {quotes.format('x')}") == verbs(order)


@given(
    st.sampled_from(VERBS),
    st.sampled_from(
        ["{}_it.txt", "{}.md", "a/{}", "{}/the", "{}@example.com", "#{}", "{}Notes", "{}1", "{}-me"]
    ),
    st.sampled_from(["{} the log", "Show {}", "Show it, {} the rest", "Please {} it"]),
)
def test_names_order_nothing(verb: str, name: str, around: str) -> None:
    assert verbs(around.format(name.format(verb))) == []


@given(st.text(st.characters(max_codepoint=0x7F) | st.sampled_from("’“„«")))
def test_the_place_of_an_order_is_that_of_its_verb(prompt: str) -> None:
    for order in find_instructions(prompt):
        assert prompt[order.start :][: len(order.verb)].lower().replace("’", "'") == order.verb
