"""What a text argument is bent to: the same or another record in a spelling that a check may miss.

A policy that compares arguments as they are written, before a tool that reads them by their
meaning, misses each of these. All of them are texts: values of another type end servers that are
written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
"""ASCII characters → full-width ones, which Unicode's normal form takes for the same."""
WILDCARDS = ("*", "%", "", ".*", "' OR '1'='1' --")
"""Texts that may stand for anything."""


def respelled(value: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield words, with ``{}`` for the argument's name, and another spelling of ``value``.

    ``others`` are ids that fit in its place.
    """
    yield "{} in other case", value.swapcase()
    yield "spaces around {}", f" {value} "
    yield "{} in full-width letters", value.translate(_WIDE)
    yield "{} with an escape of URLs", f"{value[:-1]}%{ord(value[-1]) % 256:02X}"
    if re.search(r"[^\w\s]", value):
        yield (
            "with its signs escaped as in URLs",
            re.sub(r"[^\w\s]", lambda found: f"%{ord(found[0]) % 256:02X}", value),
        )
    if re.search(r"\d", value):
        yield "{} with a leading zero", re.sub(r"(\d+)(?!.*\d)", r"0\1", value)
    other = next((one for one in others if one != value), None)
    if other is not None:
        yield "{} and another, separated by a comma", f"{value},{other}"
        yield "{} and a path to another", f"{value}/../{other}"
