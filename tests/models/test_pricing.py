"""Tokens and money.

Exact where a price is known, unknown where it is not, never zero by accident.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.pricing import Flavour, Pricer, list_price
from harness.types import ModelSpec, Usage
from tests.models.support import spec_for

ANTHROPIC = "https://api.anthropic.com"
OPENAI = "https://api.openai.com/v1"
MESSAGES_USAGE = {
    "input_tokens": 100,
    "cache_read_input_tokens": 800,
    "cache_creation_input_tokens": 100,
    "output_tokens": 100,
}
CHAT_USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 800},
    "completion_tokens_details": {"reasoning_tokens": 50},
}
RESPONSES_USAGE = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 800, "cache_write_tokens": 0},
    "output_tokens": 100,
    "output_tokens_details": {"reasoning_tokens": 50},
}


def usage(
    data: dict[str, Any],
    *,
    url: str = ANTHROPIC,
    flavour: Flavour = "default",
    spec: ModelSpec | None = None,
) -> Usage:
    return Pricer(spec or spec_for("messages", None), url=url, flavour=flavour).read_usage(data)


def test_cached_tokens_are_counted_once_and_priced_as_cached() -> None:
    used = usage({"model": "claude-sonnet-4-5", "usage": MESSAGES_USAGE})
    assert used == Usage(
        input_tokens=1000,
        output_tokens=100,
        cache_read_tokens=800,
        cache_write_tokens=100,
        cost_usd=0.002415,
    )


@pytest.mark.parametrize(
    ("flavour", "reported"), [("chat", CHAT_USAGE), ("responses", RESPONSES_USAGE)]
)
def test_openais_input_tokens_include_the_cached_ones(
    flavour: Flavour, reported: dict[str, Any]
) -> None:
    used = usage({"model": "gpt-4o-2024-08-06", "usage": reported}, url=OPENAI, flavour=flavour)
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens) == (1000, 100, 800)
    assert used.cost_usd == pytest.approx((200 * 2.5 + 800 * 1.25 + 100 * 10) / 1e6)


def test_the_model_that_was_asked_for_has_the_price_when_the_one_that_answered_is_unknown() -> None:
    used = usage({"model": "an-alias-of-the-day", "usage": MESSAGES_USAGE})
    assert used.cost_usd == pytest.approx(0.002415)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "https://gateway.example.com/v1", "http://localhost:11434/v1"]
)
def test_a_server_that_nobody_sells_has_no_price(url: str) -> None:
    used = usage({"model": "claude-sonnet-4-5", "usage": MESSAGES_USAGE}, url=url)
    assert used.cost_usd is None
    assert used.input_tokens == 1000


def test_a_gateway_that_is_known_has_its_own_price() -> None:
    data = {"model": "llama-3.3-70b-versatile", "usage": CHAT_USAGE}
    used = usage(
        data, url="https://api.groq.com/openai/v1", flavour="chat", spec=spec_for("chat", None)
    )
    assert used.cost_usd is not None
    assert used.cost_usd > 0


def test_an_unknown_model_has_no_price() -> None:
    used = usage(
        {"model": "no-such-model", "usage": MESSAGES_USAGE},
        spec=spec_for("messages", None, model_id="nor-this"),
    )
    assert used.cost_usd is None


def test_configured_prices_win_and_hold_for_every_server() -> None:
    spec = spec_for("messages", None, input_price=2.0, output_price=10.0)
    used = usage({"model": "x", "usage": MESSAGES_USAGE}, url="http://127.0.0.1:8000", spec=spec)
    assert used.cost_usd == pytest.approx((1000 * 2 + 100 * 10) / 1e6)


def test_a_configured_price_of_zero_is_zero_on_purpose() -> None:
    spec = spec_for("messages", None, input_price=0.0, output_price=0.0)
    assert usage({"usage": MESSAGES_USAGE}, spec=spec).cost_usd == 0.0


def test_one_configured_price_alone_decides_nothing() -> None:
    spec = spec_for("messages", None, input_price=2.0)
    assert usage({"usage": MESSAGES_USAGE}, url="http://127.0.0.1:8000", spec=spec).cost_usd is None


@pytest.mark.parametrize("data", [{}, {"usage": None}, {"usage": []}, {"usage": {}}])
def test_usage_that_is_not_reported_is_unknown(data: dict[str, Any]) -> None:
    used = usage({"model": "claude-sonnet-4-5", **data})
    assert (used.input_tokens, used.output_tokens, used.cost_usd) == (None, None, None)


@pytest.mark.parametrize("odd", [-1, True, "7", 1.5, None])
def test_counts_that_cannot_be_are_unknown(odd: Any) -> None:
    used = usage({"model": "claude-sonnet-4-5", "usage": {**MESSAGES_USAGE, "output_tokens": odd}})
    assert (used.output_tokens, used.cost_usd) == (None, None)


def test_counts_that_contradict_each_other_have_no_price() -> None:
    reported = {**CHAT_USAGE, "prompt_tokens": 10}
    assert (
        usage({"model": "gpt-4o", "usage": reported}, url=OPENAI, flavour="chat").cost_usd is None
    )


def test_a_cheaper_service_tier_is_cheaper() -> None:
    data = {"model": "gpt-5", "usage": CHAT_USAGE}
    usual = usage(data, url=OPENAI, flavour="chat").cost_usd
    flex = usage({**data, "service_tier": "flex"}, url=OPENAI, flavour="chat").cost_usd
    assert usual is not None
    assert flex is not None
    assert 0 < flex <= usual


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)


@given(
    reported=st.dictionaries(
        st.sampled_from([*MESSAGES_USAGE, *CHAT_USAGE, "cache_creation"]), json_values
    ),
    model=json_values,
    flavour=st.sampled_from(["default", "chat", "responses"]),
)
def test_no_report_makes_reading_it_fail(
    reported: dict[str, Any], model: Any, flavour: Flavour
) -> None:
    url = ANTHROPIC if flavour == "default" else OPENAI
    used = usage({"model": model, "usage": reported}, url=url, flavour=flavour)
    assert used.cost_usd is None or used.cost_usd >= 0


@pytest.mark.parametrize(
    ("url", "loads"),
    [
        ("http://127.0.0.1:8000/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://localhost:11434/v1", False),
        ("http://10.0.0.7/v1", False),
        ("http://vllm:8000/v1", False),
        ("http://models.internal/v1", False),
        ("https://api.example.com/v1", True),
        ("https://api.openai.com/v1", True),
    ],
)
def test_the_price_table_is_loaded_only_for_an_api_that_may_have_a_price(
    monkeypatch: pytest.MonkeyPatch, url: str, loads: bool
) -> None:
    monkeypatch.delitem(sys.modules, "genai_prices", raising=False)
    usage({"model": "any", "usage": MESSAGES_USAGE}, url=url)
    list_price(ModelSpec(name="any", provider="openai", model_id="any", base_url=url), 1, 1)
    assert ("genai_prices" in sys.modules) is loads


def test_the_price_table_is_read_without_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network was touched")

    for name in [name for name in sys.modules if name.partition(".")[0] == "genai_prices"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    assert usage({"model": "claude-sonnet-4-5", "usage": MESSAGES_USAGE}).cost_usd == pytest.approx(
        0.002415
    )
