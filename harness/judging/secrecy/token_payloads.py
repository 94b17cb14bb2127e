"""What tokens in an answer hold: they are redacted everywhere, and their payload is no secret."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

# Every header begins so: it is the Base64 of a brace, a quotation mark and a letter.
_TOKEN = re.compile(r"(?<![\w.-])(eyJ[\w-]{4,})\.([\w-]{4,})\.[\w-]*")
_MOST = 50


def find_payloads(text: str) -> Iterator[str]:
    """Yield the readable payload of each text in the form of a JSON Web Token, at most `_MOST`."""
    for number, found in enumerate(_TOKEN.finditer(text)):
        if number == _MOST:
            return
        part = found[2]
        try:
            # Tokens leave out the padding.
            yield base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
        # It has only the form of a token: nobody can read anything in it.
        except (binascii.Error, UnicodeDecodeError):
            continue
