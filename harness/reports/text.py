"""Text from models and servers, made harmless for a terminal, and figures as people read them."""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]?")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """Return ``text`` without terminal escapes, control characters and marks that turn its direction."""
    return _CONTROLS.sub("�", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def shorten(text: str, limit: int) -> str:
    """Return ``text`` cut to ``limit`` characters, with a mark that says so."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def seconds(value: float) -> str:
    """Return a duration: ``40 ms``, ``3.2 s``, ``2 min 5 s``."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def money(value: float | None) -> str:
    """Return dollars with the digits that matter, or that they are unknown."""
    if value is None:
        return "unknown"
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"  # noqa: PLR2004 - a dime


def number(value: int | None) -> str:
    """Return a count with thousands separated, or that it is unknown."""
    return "unknown" if value is None else f"{value:,}"
