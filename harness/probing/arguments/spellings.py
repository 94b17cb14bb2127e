"""Other spellings of an id, and texts that may stand for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

WILDCARDS = ("*", "%", "", ".*", "' OR '1'='1' --")
"""Texts that a server may read as a wildcard."""
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
"""ASCII characters → full-width ones, which Unicode normalisation (NFKC) makes equal."""


def respell(value: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the change (``{}`` stands for the argument's name) and another spelling of ``value``.

    ``others`` are other ids for the same argument. All spellings are texts.
    """
    yield "{} in other case", value.swapcase()
    yield "spaces around {}", f" {value} "
    yield "a line break behind {}", f"{value}\n"
    yield "a null byte behind {}", f"{value}\0"
    yield "{} in full-width letters", value.translate(_WIDE)
    # Modulo 256, since an escape has two digits: a letter beyond Latin-1 becomes another one.
    yield "{} with an escape of URLs", f"{value[:-1]}%{ord(value[-1]) % 256:02X}"
    # Without a sign here, or a digit below, the change would give the id itself.
    if re.search(r"[^\w\s]", value):
        yield (
            "with its signs escaped as in URLs",
            re.sub(r"[^\w\s]", lambda found: f"%{ord(found[0]) % 256:02X}", value),
        )
    if re.search(r"\d", value):
        yield "{} with a leading zero", re.sub(r"(\d+)(?!.*\d)", r"0\1", value)
    yield "one letter more behind {}", f"{value}x"
    yield "{} without its last letter", value[:-1]
    other = next((other for other in others if other != value), None)
    if other is not None:
        yield "{} and another, separated by a comma", f"{value},{other}"
        yield "{} and a path to another", f"{value}/../{other}"
