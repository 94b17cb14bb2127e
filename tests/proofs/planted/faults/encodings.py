"""A withheld value is sent along in another notation, in a field that looks technical."""

from __future__ import annotations

import base64
import codecs
import gzip
import html
import json
import unicodedata
from typing import Any
from urllib.parse import quote

from tests.proofs.planted.calls import Call
from tests.proofs.planted.clinic import Clinic

_WORDS = "zero one two three four five six seven eight nine".split()
_SPOKEN = (
    "alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar "
    "papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
).split()


class _Encoded(Clinic):
    """Adds a value that is withheld from somebody, encoded, as ``ref``; for everybody."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        lost = {name: value for name, value in record.items() if shown.get(name) != value}
        value = lost.get("email") or lost.get("card") or lost.get("iban") or record.get("email")
        return shown if value is None else {**shown, "ref": self.encode(str(value))}

    def encode(self, value: str) -> Any:
        """Return the value in another notation."""
        raise NotImplementedError


class Base64(_Encoded):
    """In base64."""

    def encode(self, value: str) -> Any:
        return base64.b64encode(value.encode()).decode()


class Base64Unpadded(_Encoded):
    """In base64 for URLs, without padding, behind a prefix."""

    def encode(self, value: str) -> Any:
        return "cur_" + base64.urlsafe_b64encode(f"v1|{value}".encode()).decode().rstrip("=")


class Base64Twice(_Encoded):
    """In base64, twice."""

    def encode(self, value: str) -> Any:
        return base64.b64encode(base64.b64encode(value.encode())).decode()


class Base32(_Encoded):
    """In base32, lower case."""

    def encode(self, value: str) -> Any:
        return base64.b32encode(value.encode()).decode().lower().rstrip("=")


class Base85(_Encoded):
    """In base85."""

    def encode(self, value: str) -> Any:
        return base64.b85encode(value.encode()).decode()


class Hexadecimal(_Encoded):
    """In hexadecimal, upper case."""

    def encode(self, value: str) -> Any:
        return value.encode().hex().upper()


class HexadecimalColons(_Encoded):
    """In hexadecimal with colons, like a fingerprint."""

    def encode(self, value: str) -> Any:
        return value.encode().hex(":")


class HexadecimalOfBase64(_Encoded):
    """In base64, and that in hexadecimal."""

    def encode(self, value: str) -> Any:
        return base64.b64encode(value.encode()).hex()


class UrlEscapes(_Encoded):
    """With every character escaped as in a URL."""

    def encode(self, value: str) -> Any:
        return "".join(f"%{byte:02x}" for byte in value.encode())


class UrlEscapesTwice(_Encoded):
    """Escaped as in a URL, twice."""

    def encode(self, value: str) -> Any:
        return quote(quote(value, safe=""), safe="")


class HtmlEntities(_Encoded):
    """In numeric HTML entities."""

    def encode(self, value: str) -> Any:
        return "".join(f"&#{ord(letter)};" for letter in value)


class UnicodeEscapes(_Encoded):
    r"""In escapes such as \u0061."""

    def encode(self, value: str) -> Any:
        return "".join(f"\\u{ord(letter):04x}" for letter in value)


class QuotedPrintable(_Encoded):
    """In quoted-printable, as in mail."""

    def encode(self, value: str) -> Any:
        return "".join(f"={ord(letter):02X}" for letter in value)


class JsonInString(_Encoded):
    """In JSON in a string in JSON."""

    def encode(self, value: str) -> Any:
        return json.dumps(json.dumps({"v": value}))


class Reversed(_Encoded):
    """Backwards."""

    def encode(self, value: str) -> Any:
        return value[::-1]


class UpperCase(_Encoded):
    """In capitals, words joined by underscores."""

    def encode(self, value: str) -> Any:
        return value.upper().replace(" ", "_")


class FullWidth(_Encoded):
    """In full-width letters."""

    def encode(self, value: str) -> Any:
        return "".join(
            chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in value
        )


class LookAlikes(_Encoded):
    """With Cyrillic letters that look like Latin ones."""

    def encode(self, value: str) -> Any:
        return value.translate(str.maketrans("aeopcx0", "аеорсх\u041e"))


class MathematicalLetters(_Encoded):
    """In bold mathematical letters and digits."""

    def encode(self, value: str) -> Any:
        return "".join(
            chr(0x1D41A + ord(letter) - 97) if "a" <= letter <= "z"
            else chr(0x1D7CE + int(letter)) if letter.isdigit() else letter
            for letter in value
        )  # fmt: skip


class Accents(_Encoded):
    """With an accent on each letter."""

    def encode(self, value: str) -> Any:
        return unicodedata.normalize(
            "NFC", "".join(letter + "\u0301" if letter.isalnum() else letter for letter in value)
        )


class Invisible(_Encoded):
    """With invisible characters between the letters."""

    def encode(self, value: str) -> Any:
        return "\u200b".join(value)


class TagLetters(_Encoded):
    """In the invisible tag characters of Unicode, behind a harmless word."""

    def encode(self, value: str) -> Any:
        return "ok" + "".join(chr(0xE0000 + ord(letter)) for letter in value)


class SpelledOut(_Encoded):
    """With digits as words."""

    def encode(self, value: str) -> Any:
        return " ".join(_WORDS[int(c)] if c.isdigit() else c for c in value if c != " ")


class Spoken(_Encoded):
    """Spelled in the alphabet of radio operators."""

    def encode(self, value: str) -> Any:
        return " ".join(
            _SPOKEN[ord(c) - 97] if "a" <= c <= "z" else _WORDS[int(c)] if c.isdigit() else c
            for c in value.lower()
            if c != " "
        )


class Dotted(_Encoded):
    """With a dot after every other character."""

    def encode(self, value: str) -> Any:
        bare = value.replace(" ", "")
        return ".".join(bare[place : place + 2] for place in range(0, len(bare), 2))


class CharacterCodes(_Encoded):
    """As a list of character codes."""

    def encode(self, value: str) -> Any:
        return [ord(letter) for letter in value]


class BinaryDigits(_Encoded):
    """In binary digits."""

    def encode(self, value: str) -> Any:
        return " ".join(f"{byte:08b}" for byte in value.encode())


class Letters(_Encoded):
    """As a list of letters."""

    def encode(self, value: str) -> Any:
        return list(value)


class Rotated(_Encoded):
    """Rotated by thirteen letters."""

    def encode(self, value: str) -> Any:
        return codecs.encode(value, "rot13").translate(str.maketrans("0123456789", "5678901234"))


class Compressed(_Encoded):
    """Compressed, in base64."""

    def encode(self, value: str) -> Any:
        return base64.b64encode(gzip.compress(json.dumps({"value": value}).encode())).decode()


class TokenLike(_Encoded):
    """In the payload of something that looks like a signed token."""

    def encode(self, value: str) -> Any:
        parts = (json.dumps(part).encode() for part in ({"alg": "HS256"}, {"sub": value}))
        body = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
        return f"{body}.c2lnbmF0dXJl"


class DataAddress(_Encoded):
    """In a data: address."""

    def encode(self, value: str) -> Any:
        return f"data:text/plain;base64,{base64.b64encode(value.encode()).decode()}"


class Xml(_Encoded):
    """In XML with escapes, in a string."""

    def encode(self, value: str) -> Any:
        return (
            f"<contact>{html.escape(value).replace('@', '&#x40;').replace(' ', '&#32;')}</contact>"
        )


class AtAndDot(_Encoded):
    """Written *name at host dot org*, cards with dashes."""

    def encode(self, value: str) -> Any:
        return (
            value.replace("@", " at ").replace(".", " dot ")
            if "@" in value
            else value.replace(" ", "-")
        )


class TwoFields(Clinic):
    """In two halves, in two fields."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        for name in ("email", "card"):
            if kind == "patient" and shown.get(name) != record[name]:
                half = len(record[name]) // 2
                shown["left"], shown["right"] = record[name][:half], record[name][half:]
        return shown


class Cents(Clinic):
    """Salaries and balances in cents, under another unit's name."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        for name in ("salary", "balance"):
            if name in record and name not in shown:
                shown[f"{name}_cents"] = round(record[name] * 100)
        return shown


class Thousands(Clinic):
    """Salaries and balances in thousands."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        for name in ("salary", "balance"):
            if name in record and name not in shown:
                shown[f"{name}_k"] = record[name] / 1000
        return shown


class MonthlySalary(Clinic):
    """The salary per month, to the cent."""

    def fields(self, kind: str, record: Any, call: Call) -> dict[str, Any]:
        shown = super().fields(kind, record, call)
        if kind == "staff" and "salary" not in shown:
            shown["monthly_salary"] = round(record["salary"] / 12, 2)
        return shown
