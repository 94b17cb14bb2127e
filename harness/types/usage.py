"""Tokens and cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and cost of one reply or of many. Unknown is ``None`` and stays so in a sum."""

    input_tokens: int | None = 0
    """All input tokens, including those read from or written to a cache."""
    output_tokens: int | None = 0
    """All output tokens, including reasoning."""
    cache_read_tokens: int | None = 0
    """Input tokens that the provider took from its cache."""
    cache_write_tokens: int | None = 0
    """Input tokens that the provider put into its cache."""
    cost_usd: float | None = 0.0
    """The cost; ``None`` if the price is unknown."""

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        return known_sum(self.input_tokens, self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        """Sum field by field; an unknown part makes an unknown sum."""
        return Usage(
            input_tokens=known_sum(self.input_tokens, other.input_tokens),
            output_tokens=known_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=known_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=known_sum(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd=None
            if self.cost_usd is None or other.cost_usd is None
            else self.cost_usd + other.cost_usd,
        )


UNKNOWN_USAGE = Usage(
    input_tokens=None,
    output_tokens=None,
    cache_read_tokens=None,
    cache_write_tokens=None,
    cost_usd=None,
)
"""Usage of a reply that does not report any."""


def known_sum(left: int | None, right: int | None) -> int | None:
    """Return the sum of two amounts; an unknown one makes it unknown."""
    return None if left is None or right is None else left + right
