"""A token is redacted in pieces, too."""

from __future__ import annotations

import json

from harness.base.redaction import MARK, Redactor
from harness.base.redaction.secret_names import TokenPieces

HEAD, BODY, SIGN = "eyJhbGciOiJSUzI1NiJ9", "eyJzdWIiOiJhbm5hIn0xx", "Zm9vYmFyYmF6cXV4cXV1eA-_"
TOKEN = f"{HEAD}.{BODY}.{SIGN}"


def test_a_token_that_is_split_at_its_dots_is_redacted() -> None:
    redactor = Redactor()
    redactor.add_secret(TOKEN)
    split = {"parts": TOKEN.split("."), "text": f"line\n{BODY}\n{SIGN}"}
    for clean in (
        redactor.redact_json_text(json.dumps(split)),
        json.dumps(redactor.redact_json(split)),
    ):
        assert BODY not in clean
        assert SIGN not in clean
        assert json.loads(clean)["parts"] == [MARK] * 3
    assert redactor.redact_text(f"{SIGN} {HEAD}") == f"{MARK} {MARK}"
    assert redactor.redact_output(f'["{SIGN}"]') == f'["{MARK}"]'


def test_words_that_are_no_piece_stay() -> None:
    redactor = Redactor()
    redactor.add_secret(TOKEN)
    text = f"{SIGN}x {SIGN[:-1]} eyJjdXJzb3IiOjEwMH0 an_ordinary_identifier_of_a_tool"
    assert redactor.redact_text(text) is text


def test_an_answer_without_a_token_stays_the_same_object() -> None:
    tokens = TokenPieces(MARK)
    answer = {"content": [{"type": "text", "text": "x" * 40}]}
    assert tokens.redact_json(answer) is answer
    tokens.add(TOKEN)
    assert tokens.redact_json(answer) is answer
    assert tokens.redact_json({"a": [TOKEN]}) == {"a": [MARK]}
