"""Text from models and servers, made safe to show; and figures in readable form."""

from __future__ import annotations

import json
import re

from harness.base.invisible import HIDDEN, TERMINAL_ESCAPES, escape_hidden
from harness.base.redaction import KNOWN

_COMMANDS = re.compile(r"^(?P<lead>[^\S\n]*)::|##(?=\[)", re.MULTILINE)
"""Text in a log that a CI system takes for a command: ``::error …`` and ``##[error]``."""


def make_printable(text: str) -> str:
    """Return ``text`` without secrets, terminal escapes, CI commands and hidden characters.

    Hidden characters are escaped, the others removed.
    """
    # A carriage return counts as hidden, but not in a line end of Windows.
    plain = escape_hidden(TERMINAL_ESCAPES.sub("", KNOWN.redact_text(text).replace("\r\n", "\n")))
    # A space breaks the command, and a reader still sees what was written.
    return _COMMANDS.sub(
        lambda found: "# #" if found["lead"] is None else f"{found['lead']}: :", plain
    )


def make_one_line(text: str) -> str:
    """Return ``text`` harmless and on one line, every run of white space a single space."""
    return " ".join(make_printable(text).split())


def escaped_json(text: str) -> str:
    """Return an equivalent JSON text in which every hidden character is escaped."""
    return HIDDEN.sub(lambda found: json.dumps(found.group())[1:-1], text)


def limit_text(text: str, limit: int) -> str:
    """Return ``text`` made safe, cut to ``limit`` characters with a note of how much is missing."""
    text = KNOWN.redact_text(text)  # a secret that is cut in two would not be known any more
    if len(text) <= limit:
        return make_printable(text)
    return (
        f"{make_printable(text[:limit])}\n… {len(text) - limit:,} more characters are in "
        f"the run log"
    )


def shorten_text(text: str, limit: int) -> str:
    """Return ``text`` redacted, in at most ``limit`` characters, with an ellipsis if cut."""
    text = KNOWN.redact_text(text)  # before it is cut, as above
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def format_seconds(value: float) -> str:
    """Return a duration: ``40 ms``, ``3.2 s``, ``2 min 5 s``."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def format_money(value: float | None) -> str:
    """Return dollars with the significant digits, or ``unknown``."""
    if value is None:
        return "unknown"
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"  # noqa: PLR2004 - a dime


def format_number(value: int | None) -> str:
    """Return a count with separators of thousands, or ``unknown``."""
    return "unknown" if value is None else f"{value:,}"
