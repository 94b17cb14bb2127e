"""Secrets are taken out of whatever is written."""

import base64
import json
import re
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import MARK, Redactor
from harness.types import IdentitySpec, ModelSpec, Secret, ServerSpec

SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="[]"), min_size=6, max_size=40).filter(
    lambda text: text not in MARK
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
    max_leaves=20,
)

KEYS = {
    "OpenAI": "sk-proj-Ab3dEfGhIjKlMnOpQrStUv",
    "Anthropic": "sk-ant-api03-Ab3dEf_GhIjKlMn-OpQrStUv",
    "GitHub": "ghp_" + "a1B2" * 9,
    "GitHub, fine-grained": "github_pat_" + "a1B2" * 12,
    "GitLab": "glpat-" + "a1B2" * 6,
    "Slack": "xoxb-123456789012-abcdefABCDEF",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "Google": "AIza" + "Sy12_" * 7,
    "JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl-x_y",
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_well_known_kind_of_key_is_taken_out_of_any_text(key: str) -> None:
    assert Redactor().text(f'{{"error": "bad key {key}", "n": 1}}') == f'{{"error": "bad key {MARK}", "n": 1}}'


def test_what_follows_bearer_is_taken_out() -> None:
    assert Redactor().text("Authorization: Bearer abcDEF1234567890xyz==") == f"Authorization: Bearer {MARK}"


def test_a_password_in_a_url_is_taken_out() -> None:
    assert Redactor().text("postgres://shop:pa55@db:5432/x failed") == f"postgres://{MARK}@db:5432/x failed"


@pytest.mark.parametrize(
    "text",
    [
        "task-management-2024-system-name",
        "desk-lamp-with-a-rather-long-name-2",
        "sk-learn-pipeline-example-of-words",
        "bearer responsibilities",
        "http://localhost:8000/me@example.com",
        "see https://example.com, then mail a@b.example",
        "CUST_00042 ORD-2024-000017",
        "AKIA is a prefix; 123456789012",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor(["unrelated-secret"]).text(text) is text


@given(st.lists(SECRETS, min_size=1, max_size=4), st.lists(st.text(max_size=20), min_size=5, max_size=5))
def test_no_known_secret_is_left_in_a_text(secrets: list[str], between: list[str]) -> None:
    text = between[0] + "".join(secret + gap for secret, gap in zip(secrets, between[1:], strict=False))
    redacted = Redactor(secrets).text(text)
    assert not any(secret in redacted for secret in secrets)


@given(SECRETS)
def test_a_secret_is_found_url_encoded_and_json_escaped(secret: str) -> None:
    redactor = Redactor([secret])
    lower_case = re.sub("%..", lambda escape: escape[0].lower(), quote(secret, safe=""))
    for form in (quote(secret), quote(secret, safe=""), quote_plus(secret), lower_case):
        assert redactor.text(f"<{form}>") == f"<{MARK}>"
    for ascii_only in (True, False):
        nested = json.dumps(json.dumps({"key": secret}, ensure_ascii=ascii_only), ensure_ascii=ascii_only)
        assert json.loads(json.loads(redactor.text(nested))) == {"key": MARK}


@given(st.binary(max_size=20), SECRETS, st.binary(max_size=20))
def test_a_secret_is_found_in_base64_whatever_stands_around_it(before: bytes, secret: str, after: bytes) -> None:
    redactor = Redactor([secret])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + secret.encode() + after).decode()
        assert MARK in redactor.text(encoded)


@given(st.lists(st.text(min_size=1), max_size=5), JSON)
def test_json_keeps_its_shape_and_is_the_same_object_when_nothing_was_secret(secrets: list[str], value: object) -> None:
    redactor = Redactor(secrets)
    redacted = redactor.json(value)
    assert type(redacted) is type(value)
    if redactor.text(json.dumps(value, ensure_ascii=False)) == json.dumps(value, ensure_ascii=False):
        assert redacted == value
    if redacted == value:
        assert redacted is value


@given(st.lists(st.text() | st.integers().map(str), max_size=4), JSON, st.booleans())
def test_a_document_stays_one_whatever_the_secrets(secrets: list[str], value: object, ascii_only: bool) -> None:
    redactor = Redactor(secrets)
    document = json.dumps(value, ensure_ascii=ascii_only)
    assert json.loads(redactor.document(document)) == redactor.json(value)


@given(SECRETS, st.booleans())
def test_a_document_keeps_no_secret(secret: str, ascii_only: bool) -> None:
    redacted = Redactor([secret]).document(json.dumps({"log": ["x " + secret], secret: 1}, ensure_ascii=ascii_only))
    assert json.loads(redacted) == {"log": [f"x {MARK}"], MARK: 1}


def test_a_number_of_a_document_is_never_taken_for_a_secret() -> None:
    assert Redactor(["123456"]).document('{"id":123456,"pin":"123456"}') == f'{{"id":123456,"pin":"{MARK}"}}'


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_key_at_the_start_of_a_line_is_taken_out_of_a_document(key: str) -> None:
    assert json.loads(Redactor().document(json.dumps(f"error:\n{key}\n"))) == f"error:\n{MARK}\n"


@given(JSON)
def test_redacting_twice_changes_nothing_more(value: object) -> None:
    redactor = Redactor(["redacted", "[redacted]", "acted]"])
    once = redactor.json(value)
    assert redactor.json(once) is once


def test_secrets_are_found_at_any_depth_in_values_and_keys() -> None:
    value = {"a": [{"b": "key hunter2!"}, 1], "hunter2!": ("hunter2!", None)}
    assert Redactor(["hunter2!"]).json(value) == {"a": [{"b": f"key {MARK}"}, 1], MARK: (MARK, None)}


def test_parts_without_secrets_are_shared_and_not_copied() -> None:
    value = {"clean": [1, {"x": "y"}], "dirty": "hunter2!"}
    assert Redactor(["hunter2!"]).json(value)["clean"] is value["clean"]


def test_a_value_shorter_than_six_characters_is_no_secret() -> None:
    assert Redactor(["admin", "", "x"]).text("admin x") == "admin x"


def test_of_two_secrets_the_longer_is_taken_out_whole() -> None:
    assert Redactor(["secret", "secret-and-more"]).text("secret-and-more") == MARK


def test_a_redactor_knows_the_keys_and_headers_of_models() -> None:
    model = ModelSpec(
        name="m",
        provider="openai",
        model_id="m",
        api_key=Secret("the-api-key"),
        headers={"X-Gateway": "gateway-pass", "Authorization": "Basic dXNlcg", "Content-Type": "application/json"},
    )
    text = Redactor.of(models=[model]).text("the-api-key gateway-pass dXNlcg application/json")
    assert text == f"{MARK} {MARK} {MARK} application/json"


def test_a_redactor_knows_what_a_server_is_given_under_a_secret_name() -> None:
    server = ServerSpec(name="s", env={"SHOP_API_KEY": "shop-value", "DB_PASSWORD": "db-value", "REGION": "europe"})
    assert Redactor.of(servers=[server]).text("shop-value db-value europe") == f"{MARK} {MARK} europe"


def test_a_secret_of_the_environment_is_known_wherever_a_server_was_given_it() -> None:
    environ = {"SHOP_TOKEN": "tok-value", "OTHER_TOKEN": "not-given", "PLAIN": "visible-value"}
    server = ServerSpec(
        name="s",
        args=("--auth=tok-value", "visible-value"),
        identity=IdentitySpec(via="header", headers={"X": "{role}"}),
    )
    redacted = Redactor.of(servers=[server], environ=environ).text("tok-value not-given visible-value")
    assert redacted == f"{MARK} not-given visible-value"


@pytest.mark.parametrize(
    "unit", ["sk-", "sk-1", "eyJ", "eyJaaaaaaaaaa.", "://a:", "Bearer ", "ghp_", "A", "://" + "b" * 50 + ":", " a"]
)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    redactor = Redactor(["hunter2!"])
    text = unit * (1_000_000 // len(unit))
    began = time.process_time()
    redactor.text(text)
    assert time.process_time() - began < 3, "a megabyte takes a twentieth of a second where every step is linear"
