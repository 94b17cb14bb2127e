r"""Hidden characters: invisible, or turning the text's direction; escaped like ``\u202e``.

With them a server or a model may say one thing to people and another to machines. They are
Unicode's control and format characters, and those that it calls default-ignorable. Where a text is
shown, joiners and variation selectors are kept if emoji and scripts need them: between two
non-ASCII characters. Where texts are compared, all of them are left out (`without_hidden`).
"""

from __future__ import annotations

import re

_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but not tab and newline
    # soft hyphens, fillers, zero-width spaces, invisible signs
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f"
    "\u3164\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of a text
    "\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"  # line separators, byte order, no characters
    "\U00013430-\U00013440"  # joiners of hieroglyphs
    "\U000e0000-\U000e0fff"  # tags, further variation selectors: whole messages were hidden in them
)
_JOINING = "\u200c\u200d\ufe00-\ufe0f"
_SHOWN = r"[^\x00-\x7f\u200b-\u200f\ufe00-\ufe0f]"
"""Characters that a joiner or a selector may belong to."""

HIDDEN = re.compile(
    f"[{_ALWAYS}]"
    f"|(?<!{_SHOWN})(?<!{_SHOWN}\ufe0f)[\u200c\u200d]|[\u200c\u200d](?!{_SHOWN})"
    f"|(?<!{_SHOWN})[\ufe00-\ufe0f](?!\u20e3)"
)
"""Finds a hidden character."""
TERMINAL_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]?"
)
"""Finds a command to a terminal, such as another colour, of which a reader sees nothing."""
_LEFT_OUT = re.compile(rf"[{_ALWAYS}{_JOINING}](?<!\s)")  # white space is seen, as a gap


def without_hidden(text: str) -> str:
    """Return ``text`` without its hidden characters, except those that are white space."""
    return _LEFT_OUT.sub("", text)


def escape_hidden(text: str) -> str:
    r"""Return ``text`` with every hidden character as ``\x1b``, ``\u202e`` or ``\U000e0041``."""
    return HIDDEN.sub(lambda found: escape_character(found[0]), text)


def escape_character(character: str) -> str:
    """Return the escape of a character, as Python reads it, and YAML in double quotation marks."""
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - two digits
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits
