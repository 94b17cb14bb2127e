"""Whatever a model sends.

A text comes back, a call that fails changes nothing, and a reset undoes the rest.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.airline.tools import AirlineTools
from servers.retail.tools import RetailTools
from servers.tau2_common.serving import Tools, answer
from tests.often import often
from tests.servers.airline.support import BOOKING
from tests.servers.airline.support import DATABASE as AIRLINE
from tests.servers.retail.support import DATABASE as SHOP

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
KNOWN = [
    "ann_lee_1", "RES001", "HATHAT", "F1", "F4", "JFK", "SFO", "2024-05-20", "economy", "business",
    "one_way", "yes", "gift_card_1", "credit_card_1", "certificate_1", "zoe_ng_1", "#P", "#G", "#D",
    "P1", "paypal_1", "2+2", "no longer needed", ["M1"], ["M2"], ["M1", "L1"], ["M2", "L2"], [], 0,
    1, 3, 50, BOOKING["flights"], BOOKING["passengers"], BOOKING["passengers"] * 2,
    BOOKING["payment_methods"], [{"flight_number": "F4", "date": "2024-05-20"}],
]  # fmt: skip
VALUES = st.sampled_from(KNOWN) | JUNK


def calls_of(tools: Tools) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    def one(name: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
        parameters = list(inspect.signature(getattr(tools, name)).parameters)
        whole = st.fixed_dictionaries(dict.fromkeys(parameters, VALUES))
        some = st.dictionaries(st.sampled_from([*parameters, "other"]), VALUES, max_size=3)
        return st.tuples(st.just(name), whole | some)

    return st.sampled_from(list(tools.HINTS)).flatmap(one)


@pytest.mark.parametrize(
    "make",
    often([lambda: AirlineTools(AIRLINE), lambda: RetailTools(SHOP)]),
    ids=["airline", "retail"],
)
def test_any_call_is_answered_in_words_and_one_that_fails_changes_nothing(
    make: Callable[[], Tools],
) -> None:
    tools = make()
    untouched = tools.store.digest()

    @settings(max_examples=60)
    @given(st.lists(calls_of(tools), min_size=1, max_size=6))
    def check(calls: list[tuple[str, dict[str, Any]]]) -> None:
        for name, arguments in calls:
            before = tools.store.digest()
            text, is_error = answer(tools, name, arguments)
            text.encode()
            assert "sqlite" not in text.lower()
            assert is_error == text.startswith("Error: ")
            if is_error:
                assert tools.store.digest() == before
            elif name in tools.OUTPUTS:
                assert isinstance(json.loads(text), dict)
            if tools.HINTS[name].read_only_hint:
                assert tools.store.digest() == before
        tools.store.reset()
        assert tools.store.digest() == untouched

    check()
