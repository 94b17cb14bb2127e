"""An estimate of the tokens in a text, without any provider's tokenizer."""

from __future__ import annotations

from bisect import bisect_right

CHARACTERS_PER_TOKEN = 4
"""A rule of thumb for JSON and alphabetic languages; each provider counts a little differently."""


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens that ``text`` takes."""
    dense = sum(map(_is_dense, text))
    return (len(text) - dense) // CHARACTERS_PER_TOKEN + dense


def take_beginning(text: str, most: int) -> str:
    """Return the longest beginning of ``text`` that takes at most about ``most`` tokens."""
    # No longer beginning can fit: a result may have megabytes, and each step below counts anew.
    longest = min(len(text), (most + 1) * CHARACTERS_PER_TOKEN)
    # By bisection, which holds as the estimate never falls with a longer text.
    fitting = bisect_right(
        range(1, longest + 1), most, key=lambda size: estimate_tokens(text[:size])
    )
    return text[:fitting]


def _is_dense(letter: str) -> bool:
    """Whether a letter takes about one token by itself, as in Chinese, Japanese and Korean."""
    return (
        "\u2e80" <= letter <= "\u9fff"
        or "\uac00" <= letter <= "\ud7a3"
        or "\uf900" <= letter <= "\ufaff"
    )
