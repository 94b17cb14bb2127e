"""The decoders, one for each encoding; a new one is a function in `DECODERS`.

A decoder yields the parts of a text that it can decode, each with its decoded text. Lines are never
decoded together, since each line is one place in what a server sent.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from binascii import a2b_base64
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote_plus

from harness.base import render_text
from harness.judging.secrecy.rare_decoders import (
    EXHAUSTIVE,
    RARE_DECODERS,
    DecodedSpan,
    Decoder,
    decode_matches,
    decompress_data,
)

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,}|[a-z2-7]{16,})={0,6}")
# Five bytes at least, as five letters below: a shorter value is never searched for (`values`).
_HEX = re.compile(
    r"(?:0x|\\x)?[0-9A-Fa-f]{2}(?:(?:[: \t-]|\\x|, ?0x)?[0-9A-Fa-f]{2}){4,}(?![0-9A-Fa-f])"
)
_HEX_NOISE = re.compile(r"0x|\\x|[:\s,-]")
_URL = re.compile(r"%[0-9A-Fa-f]{2}")
_HTML = re.compile(r"&(?:#\w{1,32}|\w{2,31});")
_MARKUP = re.compile(r"<[/!A-Za-z]|\\(?:text|math|mbox|emph)|\][(\[]|\x1b\[|\u202e")
"""What a reader does not see, and what would part a value; the search passes over other marks."""
_TAGS = re.compile("[\U000e0020-\U000e007e]{5,}")
_JSON_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))")
_LINE = re.compile(r"[^\n]{5,}")
_DIGIT_WORDS: Mapping[str, str] = {
    word: str(digit)
    for digit, words in enumerate(
        (
            "zero oh null nought", "one", "two", "three", "four", "five", "six", "seven", "eight",
            "nine",
        )
    )
    for word in words.split()
}  # fmt: skip
_SPELLED = re.compile(
    rf"\b(?:{'|'.join(_DIGIT_WORDS)})\b(?:[ \t,.;-]*\b(?:{'|'.join(_DIGIT_WORDS)})\b){{4,}}",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_NAMED_SIGN = re.compile(r"[^\n]{0,64}[\[({<\t ](?:at|dot)[\])}>\t ][^\n]{0,96}", re.IGNORECASE)
# A match begins where white space does: else each place in a long run of it would be tried.
_AT = re.compile(r"(?:(?<!\s)\s+)?[\[({<]\s*at\s*[\])}>]\s*|(?<!\s)\s+at\s+", re.IGNORECASE)
_DOT = re.compile(r"(?:(?<!\s)\s+)?[\[({<]\s*dot\s*[\])}>]\s*|(?<!\s)\s+dot\s+", re.IGNORECASE)
_READABLE = re.compile(rb"[\x20-\x7e]{5}")
"""Bytes with this pattern are read as a text even if other bytes are around it."""
_WHOLE_BASE64 = 11
"""Longer matches may start with characters that are not base64, such as a word before a slash."""


def _decode_bytes(data: bytes) -> str | None:
    """Return decoded bytes as a text on one line; ``None`` if they contain no text."""
    data = decompress_data(data)
    # Half of the bytes of UTF-16 are zeros in Latin letters; a third leaves room for others.
    if data.count(0) * 3 >= len(data):
        data = data.replace(b"\0", b"")  # UTF-16
    try:
        text = data.decode()
    except UnicodeDecodeError:
        if _READABLE.search(data) is None:
            return None
        text = data.decode(errors="replace")
    return " ".join(text.splitlines())


def _decode_base64(text: str) -> Iterator[DecodedSpan]:
    for match in _BASE64.finditer(text):
        # Both alphabets are read: that of addresses is turned into the usual one.
        body = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        for skipped in range(4) if len(body) > _WHOLE_BASE64 else (0,):
            rest = body[skipped:]
            # A single letter after the last group of four is no byte: the decoder would refuse it.
            rest = rest[: len(rest) - (len(rest) % 4 == 1)]
            decoded = _decode_bytes(a2b_base64(rest + "=" * (-len(rest) % 4)))
            if decoded is not None:
                yield DecodedSpan(match.start(), match[0], decoded)


def _decode_base32(found: re.Match[str]) -> str | None:
    body = found[0].rstrip("=").upper()
    try:
        # Not every number of letters is a whole number of bytes: what is none is refused.
        return _decode_bytes(base64.b32decode(body + "=" * (-len(body) % 8)))
    except ValueError:
        return None


def _decode_hex(found: re.Match[str]) -> str | None:
    digits = _HEX_NOISE.sub("", found[0])
    return None if len(digits) % 2 else _decode_bytes(bytes.fromhex(digits))


def _decode_marked_lines(mark: re.Pattern[str], decode: Callable[[str], str]) -> Decoder:
    """Return the decoder of each line with a ``mark``, from the word of its first mark on."""

    def decode_text(text: str) -> Iterator[DecodedSpan]:
        end = 0
        # One span a line: from each of its marks on, the same rest would be decoded again.
        while (first := mark.search(text, end)) is not None:
            begin = text.rfind("\n", 0, first.start()) + 1
            end = text.find("\n", begin)
            end = len(text) if end < 0 else end
            begin = max(begin, text.rfind(" ", begin, first.start()) + 1)
            source = text[begin:end]
            yield DecodedSpan(begin, source, " ".join(decode(source).splitlines()))

    return decode_text


def _unescape_match(found: re.Match[str]) -> str:
    if found[1] is None:
        # White space stays on the line: a line break would begin another place.
        return found[2] if found[2] in '"\\/' else " "
    letter = chr(int(found[1], 16))
    return letter if letter.isprintable() else " "


def _decode_at_and_dot(text: str) -> Iterator[DecodedSpan]:
    # Without an "at" there is no address, whatever dots are named.
    return _decode_named_signs(text) if _AT.search(text) else iter(())


_decode_named_signs = decode_matches(
    _NAMED_SIGN, lambda found: _DOT.sub(".", _AT.sub("@", found[0]))
)


# Applied in this order: where the room for decoded text runs out (`layers`), the last are not.
DECODERS: Mapping[str, Decoder] = {
    "base64": _decode_base64,
    "base32": decode_matches(_BASE32, _decode_base32),
    "hex": decode_matches(_HEX, _decode_hex),
    "URL escapes": _decode_marked_lines(_URL, unquote_plus),
    "HTML escapes": _decode_marked_lines(_HTML, html.unescape),
    "Markdown or HTML": decode_matches(
        _LINE, lambda found: render_text(found[0]) if _MARKUP.search(found[0]) else None
    ),
    "invisible tag characters": decode_matches(
        _TAGS, lambda found: "".join(chr(ord(letter) - 0xE0000) for letter in found[0])
    ),
    "JSON in a string": _decode_marked_lines(
        _JSON_ESCAPE, lambda line: _JSON_ESCAPE.sub(_unescape_match, line)
    ),
    "digits spelled out": decode_matches(
        _SPELLED,
        lambda found: "".join(_DIGIT_WORDS.get(one.lower(), "") for one in _WORD.findall(found[0])),
    ),
    "'at' and 'dot' for signs": _decode_at_and_dot,
    "reversed": decode_matches(_LINE, lambda found: found[0][::-1]),
    **RARE_DECODERS,
}
"""Every decoder by the name of its encoding in reports."""

INVERSE = "reversed"
"""The decoder that applies to every line and is its own inverse."""
OUTERMOST = EXHAUSTIVE
"""Decoders that are used alone, never before or after another one."""


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
