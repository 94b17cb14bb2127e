import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from servers.common.identity import (
    ANONYMOUS,
    MAX_IDENTITY_BYTES,
    USER_CONTEXT_META_KEY,
    USER_CONTEXT_VARIABLE,
    identify,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def test_client_and_servers_agree_on_the_key_in_meta() -> None:
    client = pytest.importorskip("harness.types")
    assert client.USER_CONTEXT_META_KEY == USER_CONTEXT_META_KEY


def test_a_request_that_says_nothing_is_anonymous() -> None:
    assert identify(None, {}) == ANONYMOUS
    assert identify({"progressToken": 1}, {}) == ANONYMOUS


def test_the_identity_of_a_request_wins_over_the_environment() -> None:
    environ = {USER_CONTEXT_VARIABLE: '{"role": "admin"}'}
    assert identify({USER_CONTEXT_META_KEY: {"role": "user"}}, environ) == {"role": "user"}
    assert identify({}, environ) == {"role": "admin"}
    assert identify(None, environ) == {"role": "admin"}


@pytest.mark.parametrize(
    "value", [None, "admin", 7, True, ["admin"], [{"role": "admin"}], '{"role": "admin"}']
)
def test_an_ill_formed_identity_is_nobody_and_never_falls_back_to_the_environment(
    value: object,
) -> None:
    environ = {USER_CONTEXT_VARIABLE: '{"role": "admin"}'}
    assert identify({USER_CONTEXT_META_KEY: value}, environ) == ANONYMOUS


@pytest.mark.parametrize(
    "text", ["{", "admin", "null", "[]", '"admin"', "[" * 100_000, '{"role": NaN}']
)
def test_an_ill_formed_variable_is_nobody(text: str) -> None:
    assert identify(None, {USER_CONTEXT_VARIABLE: text}) == ANONYMOUS


def test_an_oversized_identity_is_nobody() -> None:
    fits = {"role": "admin", "note": "x" * (MAX_IDENTITY_BYTES - 100)}
    too_large = {"role": "admin", "note": "x" * MAX_IDENTITY_BYTES}
    assert identify({USER_CONTEXT_META_KEY: fits}, {}) == fits
    assert identify({USER_CONTEXT_META_KEY: too_large}, {}) == ANONYMOUS
    assert identify(None, {USER_CONTEXT_VARIABLE: json.dumps(too_large)}) == ANONYMOUS


def test_an_identity_nested_beyond_reason_is_nobody() -> None:
    nested: dict[str, object] = {}
    for _ in range(50_000):
        nested = {"role": nested}
    assert identify({USER_CONTEXT_META_KEY: nested}, {}) == ANONYMOUS


def test_a_null_attribute_is_a_missing_attribute() -> None:
    assert identify({USER_CONTEXT_META_KEY: {"role": None, "permissions": []}}, {}) == {
        "permissions": []
    }


@given(JSON)
def test_whatever_comes_makes_an_identity_without_nulls(value: object) -> None:
    identity = identify({USER_CONTEXT_META_KEY: value}, {})
    assert all(attribute is not None for attribute in identity.values())
    assert identity == ANONYMOUS or isinstance(value, dict)
