"""What tokens in an answer hold is searched, although the tokens themselves are kept nowhere."""

from __future__ import annotations

import base64
import json

import pytest

from harness.judging.secrecy.decoders import find_payloads


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


TOKEN = f"{part({'alg': 'HS256'})}.{part({'sub': 'ines@example.org'})}.c2lnbmF0dXJl"


@pytest.mark.parametrize("text", [TOKEN, f'{{"ref": "{TOKEN}"}}', f"see {TOKEN}, please"])
def test_the_payload_of_whatever_looks_like_a_token_is_read(text: str) -> None:
    assert [*find_payloads(text)] == ['{"sub": "ines@example.org"}']


@pytest.mark.parametrize(
    "text", ["", "eyJhbGci.x.y", "a.b.c", f"{part({})}.____.x", f"x{TOKEN}".replace("x", "x-")]
)
def test_whatever_does_not_is_left_alone(text: str) -> None:
    assert [*find_payloads(text)] == []
