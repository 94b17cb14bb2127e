"""Answers of every kind, as examples and as a strategy, and the raw events that bring them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from hypothesis import strategies as st

from tests.fake_provider import FakeProvider, call, calls, cut, refuse, say, think, usage
from tests.fake_provider.steps import Answer

LONG = "Order 7 is on its way, and José will have it in Köln before noon. 🚚 " * 9
ANSWERS: dict[str, Answer] = {
    "words": say("It is on its way."),
    "long words": say(LONG),
    "a call": call("get_order", {"id": 7}),
    "words and calls": calls(
        ("get_order", {"id": 7}),
        ("find", {"text": LONG, "deep": {"a": [1, None, "é"]}}),
        text="Wait.",
    ),
    "a call of no arguments": call("list_orders", {}),
    "thought before a call": think(call("get_order", {"id": 7})),
    "a refusal": refuse("I cannot help with that."),
    "an answer that is cut": cut("It is on"),
    "counted tokens": usage(say("Done."), input=11, output=5, cache_read=3),
}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=6,
)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["get_order", "find"]),
        st.dictionaries(st.text(max_size=9), JSON_VALUES, max_size=3),
    ),
    min_size=1,
    max_size=3,
)
ANY_ANSWER = st.builds(say, st.text(min_size=1, max_size=200)) | st.builds(
    lambda requests, text: calls(*requests, text=text),
    CALLS,
    st.none() | st.text(min_size=1, max_size=50),
)


def events_of(response: httpx2.Response) -> list[tuple[str | None, Any]]:
    """Return the name and the data of each server-sent event; ``[DONE]`` as it stands."""
    events = []
    for block in response.text.split("\n\n")[:-1]:
        *name, data = block.split("\n")
        value = data.removeprefix("data: ")
        events.append(
            (
                name[0].removeprefix("event: ") if name else None,
                value if value == "[DONE]" else json.loads(value),
            )
        )
    return events


@contextmanager
def a_provider() -> Iterator[tuple[FakeProvider, list[Answer]]]:
    """A provider that says what the list holds when it is asked."""
    says: list[Answer] = []
    with FakeProvider(lambda _: says[-1]) as provider:
        yield provider, says
