"""Tokens and money of a reply.

The price table is the one inside the `genai_prices` package; it is never updated over the network.
Prices are looked up by the API's address, so that a gateway has its own prices and a local server
has none. An unknown cost is ``None``, never zero. `ModelSpec.input_price` and
`ModelSpec.output_price`, given together, override the table, and so do the prices in a provider's
traits; both hold for cached input tokens too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from harness.models.model import get_traits
from harness.types import UNKNOWN_USAGE, ModelSpec, Usage

Flavour: TypeAlias = Literal["default", "chat", "responses"]
"""The token fields of an API: Anthropic's Messages, Chat Completions, Responses."""

PER_MILLION = 1_000_000
MOST_TOKENS = 10**12
"""No reply takes more tokens; a larger, negative or fractional count is treated as unknown."""


_CACHED_TOKENS = ("cached_tokens", "cache_write_tokens")


class Pricer:
    """Reads the usage of one model's replies."""

    def __init__(self, spec: ModelSpec, *, url: str, flavour: Flavour) -> None:
        """``url`` is the API's root; the price is that of this address."""
        self._spec = spec
        self._url = url
        self._flavour = flavour

    def read_usage(self, data: Mapping[str, Any]) -> Usage:
        """Return the usage that the response body ``data`` reports; unknown values are ``None``."""
        reported = data.get("usage")
        if not isinstance(reported, Mapping):
            return UNKNOWN_USAGE
        read, written = self._count_cached(reported)
        prefix = ("prompt", "completion") if self._flavour == "chat" else ("input", "output")
        fresh, output_tokens = (_parse_count(reported.get(f"{word}_tokens")) for word in prefix)
        # Anthropic's input_tokens exclude tokens read from or written to the cache.
        apart = read + written if self._flavour == "default" else 0
        input_tokens = None if fresh is None else fresh + apart
        return Usage(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read_tokens=read,
            cache_write_tokens=written,
            cost_usd=self._compute_cost(data, input_tokens, output_tokens),
        )

    def _count_cached(self, reported: Mapping[str, Any]) -> tuple[int, int]:
        """Return the tokens read from and written to the provider's cache; 0 if not reported."""
        if self._flavour == "default":
            details: Any = reported
            keys = ("cache_read_input_tokens", "cache_creation_input_tokens")
        else:
            side = "prompt" if self._flavour == "chat" else "input"
            details, keys = reported.get(f"{side}_tokens_details"), _CACHED_TOKENS
        if not isinstance(details, Mapping):
            return 0, 0
        read, written = (_parse_count(details.get(key)) or 0 for key in keys)
        return read, written

    def _compute_cost(
        self, data: Mapping[str, Any], input_tokens: int | None, output_tokens: int | None
    ) -> float | None:
        if input_tokens is None or output_tokens is None:
            return None
        spec = self._spec
        if (price := _own_price(spec)) is not None:
            return _compute_price(price, input_tokens, output_tokens)
        if not _may_be_listed(self._url):
            return None
        served_by = data.get("model")
        # The model that answered first: behind an alias or a gateway it has the true price.
        names = [served_by, spec.model_id] if isinstance(served_by, str) else [spec.model_id]
        # For a provider with only one API, the table calls its fields the default.
        # A cloud that serves Anthropic's API among others has a name for it in the table.
        flavours = [self._flavour, "anthropic" if self._flavour == "default" else "default"]
        for name, flavour in product(names, flavours):
            if (cost := self._compute_list_cost(data, name, flavour)) is not None:
                return cost
        return None

    def _compute_list_cost(self, data: Mapping[str, Any], model: str, flavour: str) -> float | None:
        """Return the cost by the price table, if it knows the API and the model."""
        # 30,000 lines of prices: imported with the first reply of an API that may have one.
        from genai_prices import extract_usage

        # A cheaper tier has prices of its own in the table.
        tier = data.get("service_tier")
        try:
            extracted = extract_usage(
                {"model": model, "usage": data["usage"]},
                provider_api_url=self._url,
                api_flavor=flavour,
            )
            price = extracted.calc_price(
                price_context={"service_tier": tier} if isinstance(tier, str) else None
            )
        # An API or model without a price; counts that contradict each other.
        except (LookupError, ValueError):
            return None
        listed = price.model_price
        if listed.input_mtok is None and listed.output_mtok is None:  # listed without a price
            return None
        return float(price.total_price)


def _own_price(spec: ModelSpec) -> tuple[float, float] | None:
    """Return dollars per million input and output tokens, from the configuration or the traits."""
    if spec.input_price is not None and spec.output_price is not None:
        return spec.input_price, spec.output_price
    return get_traits(spec.provider).prices.get(spec.model_id)


def _may_be_listed(url: str) -> bool:
    """Return whether a table may have prices of the API at ``url``: not of one's own machines."""
    host = urlsplit(url).hostname or ""
    if "." not in host or host.endswith((".local", ".internal")):
        return False
    return not host.replace(".", "").isdigit()


def _compute_price(price: tuple[float, float], input_tokens: int, output_tokens: int) -> float:
    return (input_tokens * price[0] + output_tokens * price[1]) / PER_MILLION


def _parse_count(value: Any) -> int | None:
    # In Python `True` is an integer.
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= MOST_TOKENS else None


def list_price(spec: ModelSpec, input_tokens: int, output_tokens: int) -> float | None:
    """Return the cost of so many tokens without caching; ``None`` if unknown."""
    if (own := _own_price(spec)) is not None:
        return _compute_price(own, input_tokens, output_tokens)
    if spec.base_url and not _may_be_listed(spec.base_url):
        return None
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    tokens = Tokens(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        # By the address: at a gateway a model has another price than at its provider.
        if spec.base_url:
            price = calc_price(tokens, spec.model_id, provider_api_url=spec.base_url)
        else:
            price = calc_price(tokens, spec.model_id, provider_id=spec.provider)
    except LookupError:
        return None
    return float(price.total_price)
