"""Secrets are taken out of whatever is written."""

import base64
import json
import re
import shlex
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base import redaction
from harness.base.redaction import _OUR_WORDS, MARK, Redactor
from harness.base.redaction.spec_secrets import bare_url
from harness.types import (
    Case,
    IdentitySpec,
    ModelSpec,
    ScriptedCall,
    Secret,
    ServerSpec,
    StateQuery,
    Suite,
    TransportSpec,
)
from tests.often import often


def redactor_of(*specs: Any, **more: Any) -> Redactor:
    """Return a redactor with the secrets that `Redactor.add_specs` finds."""
    redactor = Redactor()
    redactor.add_specs(*specs, **more)
    return redactor


SECRETS = st.text(
    st.characters(codec="utf-8", exclude_characters="[]"), min_size=6, max_size=40
).filter(lambda text: text not in MARK and text not in _OUR_WORDS)
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


def test_what_a_web_server_is_given_in_headers_and_url_is_secret_and_where_it_is_is_not() -> None:
    server = ServerSpec(
        name="shop",
        transport=TransportSpec(
            kind="http",
            url="https://ada:l%40velace@shop.example.com/mcp?key=271828-1828&v=1",
            headers={
                "Authorization": "Bearer opaque-314159",
                "X-Tenant": "acme-inc",
                "Accept": "text/plain",
            },
        ),
    )
    text = (
        "l@velace l%40velace 271828-1828 opaque-314159 acme-inc https://shop.example.com/mcp "
        "text/plain v=1"
    )
    assert redactor_of(servers=[server]).redact_text(text) == " ".join(
        [*[MARK] * 5, "https://shop.example.com/mcp text/plain v=1"]
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://u:p@h:8443/mcp?key=v#f", "https://h:8443/mcp"),
        ("http://127.0.0.1:{port}/mcp", "http://127.0.0.1:{port}/mcp"),
        ("http://[::1/broken", ""),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert bare_url(url) == shown


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_well_known_kind_of_key_is_taken_out_of_any_text(key: str) -> None:
    assert (
        Redactor().redact_text(f'{{"error": "bad key {key}", "n": 1}}')
        == f'{{"error": "bad key {MARK}", "n": 1}}'
    )


def test_what_follows_bearer_is_taken_out() -> None:
    assert (
        Redactor().redact_text("Authorization: Bearer abcDEF1234567890xyz==")
        == f"Authorization: Bearer {MARK}"
    )


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
@pytest.mark.parametrize("written", [str, json.dumps])
@pytest.mark.parametrize(
    "parameter",
    [
        'resource_metadata="https://shop.example/.well-known/oauth-protected-resource"',
        "resource_metadata=https://shop.example/.well-known/oauth-protected-resource",
        'error_description="No access token was provided", error="invalid_token"',
        'authorization_uri="https://login.example/oauth2/authorize"',
    ],
)
def test_a_challenge_for_a_token_stays_readable(
    scheme: str, written: Callable[[str], str], parameter: str
) -> None:
    challenge = written(f"{scheme} {parameter}")
    assert Redactor().redact_text(challenge) == challenge


@given(
    token=st.from_regex(r"[a-z_-]{16,24}={1,2}", fullmatch=True),
    after=st.sampled_from(["", '"', '",', '"}', "'", " ", '" https://x', "</p>", "\\n"]),
)
def test_a_token_that_ends_in_padding_is_redacted_whatever_follows(token: str, after: str) -> None:
    assert token.rstrip("=") not in Redactor().redact_text(f"Bearer {token}{after}")


def test_a_password_in_a_url_is_taken_out() -> None:
    assert (
        Redactor().redact_text("postgres://shop:pa55@db:5432/x failed")
        == f"postgres://{MARK}@db:5432/x failed"
    )


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
    assert Redactor(["unrelated-secret"]).redact_text(text) is text


@given(
    st.lists(SECRETS, min_size=1, max_size=4),
    st.lists(st.text(max_size=20), min_size=5, max_size=5),
)
def test_no_known_secret_is_left_in_a_text(secrets: list[str], between: list[str]) -> None:
    text = between[0] + "".join(
        secret + gap for secret, gap in zip(secrets, between[1:], strict=False)
    )
    redacted = Redactor(secrets).redact_text(text)
    assert not any(secret in redacted for secret in secrets)


@given(SECRETS)
def test_a_secret_is_found_url_encoded_and_json_escaped(secret: str) -> None:
    redactor = Redactor([secret])
    lower_case = re.sub("%..", lambda escape: escape[0].lower(), quote(secret, safe=""))
    for form in (quote(secret), quote(secret, safe=""), quote_plus(secret), lower_case):
        assert redactor.redact_text(f"<{form}>") == f"<{MARK}>"
    for ascii_only in (True, False):
        nested = json.dumps(
            json.dumps({"key": secret}, ensure_ascii=ascii_only), ensure_ascii=ascii_only
        )
        assert json.loads(json.loads(redactor.redact_text(nested))) == {"key": MARK}


@given(st.binary(max_size=20), SECRETS, st.binary(max_size=20))
def test_a_secret_is_found_in_base64_whatever_stands_around_it(
    before: bytes, secret: str, after: bytes
) -> None:
    redactor = Redactor([secret])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + secret.encode() + after).decode()
        assert MARK in redactor.redact_text(encoded)


@given(st.lists(st.text(min_size=1), max_size=5), JSON)
def test_json_keeps_its_shape_and_is_the_same_object_when_nothing_was_secret(
    secrets: list[str], value: object
) -> None:
    redactor = Redactor(secrets)
    redacted = redactor.redact_json(value)
    assert type(redacted) is type(value)
    if redactor.redact_text(json.dumps(value, ensure_ascii=False)) == json.dumps(
        value, ensure_ascii=False
    ):
        assert redacted == value
    if redacted == value:
        assert redacted is value


@given(st.lists(st.text() | st.integers().map(str), max_size=4), JSON, st.booleans())
def test_a_document_stays_one_whatever_the_secrets(
    secrets: list[str], value: object, ascii_only: bool
) -> None:
    redactor = Redactor(secrets)
    document = json.dumps(value, ensure_ascii=ascii_only)
    assert json.loads(redactor.redact_json_text(document)) == redactor.redact_json(value)


@given(SECRETS, st.booleans())
def test_a_document_keeps_no_secret(secret: str, ascii_only: bool) -> None:
    redacted = Redactor([secret]).redact_json_text(
        json.dumps({"log": ["x " + secret], secret: 1}, ensure_ascii=ascii_only)
    )
    assert json.loads(redacted) == {"log": [f"x {MARK}"], MARK: 1}


def test_a_number_of_a_document_is_never_taken_for_a_secret() -> None:
    assert (
        Redactor(["123456"]).redact_json_text('{"id":123456,"pin":"123456"}')
        == f'{{"id":123456,"pin":"{MARK}"}}'
    )


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_key_at_the_start_of_a_line_is_taken_out_of_a_document(key: str) -> None:
    assert (
        json.loads(Redactor().redact_json_text(json.dumps(f"error:\n{key}\n")))
        == f"error:\n{MARK}\n"
    )


@given(JSON)
def test_redacting_twice_changes_nothing_more(value: object) -> None:
    redactor = Redactor(["redacted", "[redacted]", "acted]"])
    once = redactor.redact_json(value)
    assert redactor.redact_json(once) is once


def test_secrets_are_found_at_any_depth_in_values_and_keys() -> None:
    value = {"a": [{"b": "key hunter2!"}, 1], "hunter2!": ("hunter2!", None)}
    assert Redactor(["hunter2!"]).redact_json(value) == {
        "a": [{"b": f"key {MARK}"}, 1],
        MARK: (MARK, None),
    }


def test_parts_without_secrets_are_shared_and_not_copied() -> None:
    value = {"clean": [1, {"x": "y"}], "dirty": "hunter2!"}
    assert Redactor(["hunter2!"]).redact_json(value)["clean"] is value["clean"]


def test_a_value_shorter_than_six_characters_is_no_secret() -> None:
    assert Redactor(["admin", "", "x"]).redact_text("admin x") == "admin x"


def test_of_two_secrets_the_longer_is_taken_out_whole() -> None:
    assert Redactor(["secret", "secret-and-more"]).redact_text("secret-and-more") == MARK


def test_a_redactor_knows_the_keys_and_headers_of_models() -> None:
    model = ModelSpec(
        name="m",
        provider="openai",
        model_id="m",
        api_key=Secret("the-api-key"),
        headers={
            "X-Gateway": "gateway-pass",
            "Authorization": "Basic dXNlcg",
            "Content-Type": "application/json",
        },
    )
    text = redactor_of(models=[model]).redact_text(
        "the-api-key gateway-pass dXNlcg application/json"
    )
    assert text == f"{MARK} {MARK} {MARK} application/json"


def test_a_redactor_knows_what_a_server_is_given_under_a_secret_name() -> None:
    server = ServerSpec(
        name="s",
        transport=TransportSpec(
            env={"SHOP_API_KEY": "shop-value", "DB_PASSWORD": "db-value", "REGION": "europe"}
        ),
    )
    assert (
        redactor_of(servers=[server]).redact_text("shop-value db-value europe")
        == f"{MARK} {MARK} europe"
    )


def test_a_secret_of_the_environment_is_known_wherever_a_server_was_given_it() -> None:
    environ = {"SHOP_TOKEN": "tok-value", "OTHER_TOKEN": "not-given", "PLAIN": "visible-value"}
    server = ServerSpec(
        name="s",
        transport=TransportSpec(args=("--auth=tok-value", "visible-value")),
        identity=IdentitySpec(via="header", settings={"headers": {"X": "{role}"}}),
    )
    redacted = redactor_of(servers=[server], environ=environ).redact_text(
        "tok-value not-given visible-value"
    )
    assert redacted == f"{MARK} not-given visible-value"


def test_what_follows_an_option_with_the_name_of_a_secret_is_one() -> None:
    args = (
        "shop.py",
        "--token",
        "first-value",
        "--db-password=second-value",
        "--API_KEY",
        "third-value",
        "--key",
        "id",
    )
    query = StateQuery(command="state --secret 'fourth value' it's")
    server = ServerSpec(
        name="s",
        transport=TransportSpec(args=(*args, "--tokenizer", "plain-value", "--token")),
        queries={"open": query, "good": StateQuery(command="state --secret 'fifth value'")},
    )
    text = "first-value second-value third-value plain-value shop.py fifth value"
    assert (
        redactor_of(servers=[server]).redact_text(text)
        == f"{MARK} {MARK} {MARK} plain-value shop.py {MARK}"
    )


@pytest.mark.parametrize(
    "spec",
    [
        ServerSpec(name="s", queries={"q": StateQuery(command="ls --token=tok-value")}),
        ServerSpec(name="s", queries={"q": StateQuery(command="state tok-value")}),
        ServerSpec(name="s", reset=ScriptedCall(tool="reset", arguments={"by": ["tok-value"]})),
        ModelSpec(name="m", provider="openai", model_id="m", body={"user": "for tok-value"}),
    ],
)
def test_a_secret_of_the_environment_is_known_in_queries_resets_and_bodies(
    spec: ServerSpec | ModelSpec,
) -> None:
    parts = {"models": [spec]} if isinstance(spec, ModelSpec) else {"servers": [spec]}
    redactor = redactor_of(**parts, environ={"STATE_TOKEN": "tok-value", "STATE": "reader"})
    assert (
        redactor.redact_text("tok-value reader roles https://") == f"{MARK} reader roles https://"
    )


OPAQUE = "tok-value-93f1"


@pytest.mark.parametrize(
    "server",
    [
        ServerSpec(name="s", queries={"q": StateQuery(command=f"state --db {OPAQUE}")}),
        ServerSpec(
            name="s", queries={"q": StateQuery(sql=f"SELECT * FROM a WHERE t = '{OPAQUE}'")}
        ),
        ServerSpec(
            name="s", queries={"q": StateQuery(sql="SELECT 1", database=f"host=h {OPAQUE}")}
        ),
        ServerSpec(
            name="s", identity=IdentitySpec(plain={"claims": {"realm": {"roles": [OPAQUE]}}})
        ),
        ServerSpec(name="s", reset=ScriptedCall(tool="reset", arguments={"by": [OPAQUE]})),
    ],
)
@pytest.mark.parametrize("name", ["STATE_TOKEN", "SHOP_KEY", "AUTH_COOKIE"])
def test_what_looks_like_a_secret_of_the_environment_is_known_in_claims_and_sql_too(
    server: ServerSpec, name: str
) -> None:
    assert (
        redactor_of(servers=[server], environ={name: OPAQUE}).redact_text(f"a {OPAQUE} b")
        == f"a {MARK} b"
    )


WORDY = ServerSpec(
    name="s",
    identity=IdentitySpec(
        plain={
            "claims": {"role": "reader", "team": "data-reader", "realm": "shops"},
            "scope": "openid profile",
            "audience": "shop-7-api",
        }
    ),
    queries={
        "open": StateQuery(sql="SELECT * FROM customers", database="data/customers.db"),
        "rows": StateQuery(command="sqlite3 data/customers.db 'SELECT * FROM customers'"),
    },
    reset=ScriptedCall(tool="wipe", arguments={"table": "customers"}),
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTH_ROLE", "reader"),
        ("AUTH_ROLE", "data-reader"),
        ("OIDC_AUTH_SCOPE", "openid"),
        ("OIDC_AUTH_AUDIENCE", "shop-7-api"),
        ("KEYFIELD", "customers"),
        ("SORT_KEY", "customers"),
        ("KEYCLOAK_TABLE", "customers"),
    ],
)
def test_an_ordinary_word_of_the_environment_is_no_secret_since_a_claim_or_a_query_names_it(
    name: str, value: str
) -> None:
    text = f"get_{value}: {value} of shops, and {value}"
    assert redactor_of(servers=[WORDY], environ={name: value}).redact_text(text) is text


@pytest.mark.parametrize(
    "name", ["KEYCLOAK_REALM", "GIT_AUTHOR_NAME", "OIDC_AUTHORITY", "TOKENIZER", "KEYWORDS"]
)
def test_a_variable_whose_name_only_holds_the_letters_of_a_secret_s_is_none(name: str) -> None:
    server = ServerSpec(
        name="s", transport=TransportSpec(args=("--realm", "customers"), env={name: "employees"})
    )
    text = "customers employees"
    assert redactor_of(servers=[server], environ={name: "customers"}).redact_text(text) is text


@pytest.mark.parametrize(
    "args",
    [
        ("--token", "--verbose"),
        ("--no-token", "server.py"),
        ("--no-password", "server.py"),
        ("--use-token", "shop.py"),
        ("--require-token", "production"),
        ("--max-token", "500000"),
        ("--max-token=500000",),
        ("--next-token", "page-two"),
        ("--with-token", "shop.py"),
        ("--key", "customers"),
        ("--author", "Ada Lovelace"),
        ("--keyboard", "english"),
        ("--token-limit", "500000"),
        ("--auth", "bearer"),
        ("--auth", "oauth2"),
        ("--auth", "https://auth.example.com/login"),
        ("--single-pass", "server.py"),
        ("-u", "server.py"),
        ("-u", "http://localhost:8080/mcp"),
        ("--user", "1000:1000"),
        ("-H", "Accept-Language: english"),
        ("--header", "X-Author: Lovelace"),
        ("-H", "Idempotency-Key: customers"),
        ("author=Lovelace",),
        ("sort_key=orders2024",),
        ("key=customers",),
        ("keywords:customers",),
        ("-e", "KEYFIELD=customers"),
        ("-e", "AUTH_ROLE=reader"),
        ("next_token=page-two",),
        ("-c", "print('author=Lovelace')"),
    ],
)
def test_an_argument_that_is_no_secret_is_left_alone_in_every_text(args: tuple[str, ...]) -> None:
    server = ServerSpec(
        name="s",
        transport=TransportSpec(args=args),
        queries={"q": StateQuery(command=shlex.join(["state", *args]))},
    )
    text = " ".join(args) + " server.py customers Lovelace Ada english page-two"
    assert redactor_of(servers=[server]).redact_text(text) is text


@pytest.mark.parametrize(
    ("args", "secret"),
    [
        (("--pass", "hunter22"), "hunter22"),
        (("--db-pass", "hunter22!"), "hunter22!"),
        (("--auth", "ada:hunter22"), "hunter22"),
        (("--basic-auth=ada:hunter22",), "hunter22"),
        (("--apiKey", "opaque-value"), "opaque-value"),
        (("-e", "API_TOKEN=opaque-value"), "opaque-value"),
        (("-eAPI_TOKEN=opaque-value",), "opaque-value"),
        (("--env=API_TOKEN=opaque-value",), "opaque-value"),
        (("API_TOKEN=opaque-value", "psql"), "opaque-value"),
        (("env", "PGPASSWORD=opaque value", "psql"), "opaque value"),
        (("-e", "SHOP_KEY=93f0-opaque"), "93f0-opaque"),
        (("-u", "admin:hunter22"), "hunter22"),
        (("-uadmin:hunter22",), "hunter22"),
        (("--user", "admin:hunter22"), "hunter22"),
        (("-H", "X-Api-Key: opaque-value"), "opaque-value"),
        (("-HX-Api-Key: opaque-value",), "opaque-value"),
        (("-H", "Cookie: sid=93f0opaque"), "sid=93f0opaque"),
        (("--header", "Authorization: Basic b3BhcXVl"), "b3BhcXVl"),
        (("--header=Authorization: Basic b3BhcXVl",), "b3BhcXVl"),
        (("Authorization: Token opaque-value",), "opaque-value"),
        (("host=h user=u password=opaque-value dbname=d",), "opaque-value"),
        (("https://shop.example.com/mcp?v=1&api_key=opaque-value",), "opaque-value"),
        (("sh", "-c", "PGPASSWORD=opaque-value; psql"), "opaque-value"),
        (("sh", "-c", "export API_KEY='opaque value'; psql"), "opaque value"),
        (("bash", "-lc", "exec curl -u 'admin:hunter 22' http://h"), "hunter 22"),
    ],
)
def test_a_secret_in_a_command_line_is_known_however_it_is_written(
    args: tuple[str, ...], secret: str
) -> None:
    command = shlex.join(["state", *args])
    for server in (
        ServerSpec(name="s", transport=TransportSpec(args=args)),
        ServerSpec(name="s", queries={"q": StateQuery(command=command)}),
        ServerSpec(name="s", identity=IdentitySpec(settings={"token_command": command})),
    ):
        assert (
            redactor_of(servers=[server]).redact_text(f"It said: {secret}.") == f"It said: {MARK}."
        )


def test_of_a_secret_of_several_words_no_word_is_one() -> None:
    server = ServerSpec(
        name="s", transport=TransportSpec(args=("-e", "API_TOKEN=Lovelace and others"))
    )
    assert (
        redactor_of(servers=[server]).redact_text("Lovelace; Lovelace and others")
        == f"Lovelace; {MARK}"
    )


def test_a_redactor_knows_the_password_of_a_database_and_secret_names_in_a_reset() -> None:
    server = ServerSpec(
        name="s",
        queries={"q": StateQuery(sql="SELECT 1", database="host=h password=opaque-value")},
        reset=ScriptedCall(
            tool="wipe", arguments={"admin_token": "wipe-value", "table": "customers"}
        ),
    )
    assert (
        redactor_of(servers=[server]).redact_text("opaque-value wipe-value customers")
        == f"{MARK} {MARK} customers"
    )


@pytest.mark.parametrize(
    "name",
    [
        "prompt_cache_key", "author", "keywords", "tokenizer", "authority", "keyboard", "auth_role",
        "monkey", "max_token", "next_page_token", "eos_token", "secretary", "private",
    ],
)  # fmt: skip
def test_what_a_body_holds_under_a_name_like_that_of_a_secret_is_none(name: str) -> None:
    model = ModelSpec(
        name="m", provider="openai", model_id="m", body={"extra": [{name: "customer"}]}
    )
    assert redactor_of(models=[model]).redact_text("get_customer") == "get_customer"


@pytest.mark.parametrize(
    "name",
    [
        "token", "gateway_token", "accessToken", "api_key", "apikey", "apiKey", "API-Key",
        "x_api_key", "secret", "client_secret", "password", "dbPassword", "passphrase",
        "Authorization", "credential", "credentials", "private_key", "auth",
    ],
)  # fmt: skip
def test_what_a_body_holds_under_the_name_of_a_secret_is_one(name: str) -> None:
    model = ModelSpec(
        name="m", provider="openai", model_id="m", body={"extra": [{name: ["gate-value"]}]}
    )
    assert redactor_of(models=[model]).redact_text("a gate-value") == f"a {MARK}"


ORDINARY = (
    "reader",
    "customers",
    "openid",
    "data-reader",
    "customer_id",
    "production",
    "500000",
    "shop.py",
    "Lovelace",
)
NEARLY = (
    "author",
    "keyboard",
    "max-token",
    "next_token",
    "no-password",
    "keywords",
    "tokenizer",
    "cache_key",
    "realm",
)


@given(
    st.dictionaries(st.sampled_from(NEARLY), st.sampled_from(ORDINARY)),
    st.text(max_size=60).filter(lambda text: Redactor().redact_text(text) is text),
)
def test_a_text_that_holds_no_known_secret_and_no_known_shape_is_never_touched(
    pairs: dict[str, str], text: str
) -> None:
    args = [
        part
        for name, word in pairs.items()
        for part in (f"--{name}", word, f"{name}={word}", f"{name}: {word}")
    ]
    server = ServerSpec(
        name="s",
        transport=TransportSpec(args=tuple(args)),
        queries={"q": StateQuery(command=shlex.join(args)), "r": StateQuery(sql=" ".join(args))},
        reset=ScriptedCall(tool="reset", arguments=pairs),
    )
    claimed = ServerSpec(
        name="t",
        identity=IdentitySpec(plain={"claims": pairs}),
        queries=server.queries,
        reset=server.reset,
    )
    model = ModelSpec(name="m", provider="openai", model_id="m", body=pairs)
    environ = {f"AUTH_{number}": word for number, word in enumerate(ORDINARY)}
    said = " ".join((text, *ORDINARY, *NEARLY))
    assert redactor_of([model], [server]).redact_text(said) is said
    assert redactor_of((), [claimed], environ=environ).redact_text(said) is said


@pytest.mark.parametrize(
    "unit",
    often(
        [
            "sk-",
            "sk-1",
            "eyJ",
            "eyJaaaaaaaaaa.",
            "://a:",
            "Bearer ",
            "ghp_",
            "A",
            "://" + "b" * 50 + ":",
            " a",
        ],
        4,
    ),
)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    redactor = Redactor(["hunter2!"])
    text = unit * (1_000_000 // len(unit))
    redactor.redact_text(
        text
    )  # a twentieth of a second: quadratic, it would not end within any bound


def test_a_secret_that_comes_up_later_is_known_from_then_on_in_every_form() -> None:
    redactor = Redactor(["first-secret"])
    assert redactor.redact_text("opaque/token+12 first-secret") == "opaque/token+12 [redacted]"
    redactor.add_secret("opaque/token+12")
    redactor.add_secret("tiny")
    encoded = base64.b64encode(b"opaque/token+12").decode()
    assert redactor.redact_text(
        f"opaque/token+12 opaque%2Ftoken%2B12 {encoded} first-secret tiny"
    ) == ("[redacted] [redacted] [redacted] [redacted] tiny")


@pytest.mark.parametrize(
    "server",
    [
        ServerSpec(name="s", transport=TransportSpec(args=("-pS3cr3t-value",))),
        ServerSpec(
            name="s", transport=TransportSpec(command="mysql", args=("-uroot", "-pS3cr3t-value"))
        ),
        ServerSpec(name="s", transport=TransportSpec(args=("postgres://shop:S3cr3t-value@db/x",))),
        ServerSpec(
            name="s", transport=TransportSpec(env={"DATABASE": "postgres://shop:S3cr3t-value@db/x"})
        ),
        ServerSpec(
            name="s",
            identity=IdentitySpec(
                via="header", settings={"headers": {"X-Api-Key": "S3cr3t-value"}}
            ),
        ),
        ServerSpec(
            name="a+b",
            members=(
                ServerSpec(name="a", transport=TransportSpec(env={"API_KEY": "S3cr3t-value"})),
            ),
        ),
    ],
)
def test_a_password_is_known_by_itself_wherever_a_server_is_given_it(server: ServerSpec) -> None:
    assert redactor_of(servers=[server]).redact_text("no S3cr3t-value here") == f"no {MARK} here"


def test_the_password_of_a_url_is_known_as_it_is_written_and_decoded() -> None:
    redactor = redactor_of(
        servers=[
            ServerSpec(
                name="s",
                transport=TransportSpec(env={"DATABASE": "postgres://shop:p%40ss-word@db/x"}),
            )
        ]
    )
    assert redactor.redact_text("p%40ss-word, p@ss-word") == f"{MARK}, {MARK}"


@pytest.mark.parametrize("program", ["mysql", "/usr/bin/mysqldump", "sshpass"])
def test_programs_that_take_a_password_attached_to_an_option_take_any(program: str) -> None:
    server = ServerSpec(name="s", transport=TransportSpec(command=program, args=("-ptrustno",)))
    assert redactor_of(servers=[server]).redact_text("trustno") == MARK


@pytest.mark.parametrize("arg", ["-p8080:80", "-port", "-print", "-p5432", "-python"])
def test_a_port_and_a_word_behind_p_are_no_passwords(arg: str) -> None:
    assert (
        redactor_of(
            servers=[ServerSpec(name="s", transport=TransportSpec(command="docker", args=(arg,)))]
        ).redact_text(arg)
        == arg
    )


def test_identities_that_differ_by_a_secret_alone_have_different_marks() -> None:
    redactor = Redactor()
    users = [{"role": "clerk", "api_key": key} for key in ("key-of-ada", "key-of-bob")]
    redactor.add_specs(identities=users)
    assert redactor.redact_json(users) == [
        {"role": "clerk", "api_key": MARK},
        {"role": "clerk", "api_key": "[redacted 2]"},
    ]
    assert redactor.redact_json(redactor.redact_json(users)) == redactor.redact_json(users)


def test_a_label_of_a_case_is_no_secret_unless_it_looks_like_one() -> None:
    redactor = Redactor()
    labels = {"credential": "expired", "api_key": "opaque-value-77"}
    redactor.add_specs(
        suites=[Suite(name="s", cases=(Case(name="c", prompt="?", checks=(), metadata=labels),))]
    )
    assert redactor.redact_text("an expired token; opaque-value-77") == f"an expired token; {MARK}"


def test_a_private_key_is_found_line_by_line() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nAgEAAoIBAQC7VJTUt9Us\n-----END KEY-----"
    redactor = redactor_of(
        servers=[ServerSpec(name="s", transport=TransportSpec(env={"PRIVATE_KEY": key}))]
    )
    assert redactor.redact_text("it said AgEAAoIBAQC7VJTUt9Us, and") == f"it said {MARK}, and"


def test_a_password_that_is_a_word_of_every_log_leaves_logs_readable() -> None:
    redactor = redactor_of(
        servers=[ServerSpec(name="s", transport=TransportSpec(env={"DB_PASSWORD": "passed"}))]
    )
    assert redactor.redact_json_text('{"status":"passed"}') == '{"status":"passed"}'


def test_many_secrets_take_no_more_time_than_few() -> None:
    redactor = Redactor(f"secret-{number}-of-many" for number in range(1000))
    text = "some words of a log, secretly long " * 30_000
    redactor.redact_text("")
    assert redactor.redact_text(text) == text  # a tenth of a second: one by one, it takes minutes


def test_a_piece_of_a_document_keeps_its_numbers_and_quotation_marks() -> None:
    redactor = Redactor(["123456", 'a", "b', "hunter2!"])
    assert redactor.redact_output('{"n": 123456, "x": ["a", "b"], "p": "hunter2!"}') == (
        '{"n": 123456, "x": ["a", "b"], "p": "[redacted]"}'
    )


@pytest.mark.parametrize("place", [0, 262_140, 262_144, 300_000, 524_280, 999_990])
def test_a_secret_is_found_at_every_place_of_a_long_document(place: int) -> None:
    text = "." * place + "hunter2-hunter2" + "." * (1_000_000 - place)
    clean = Redactor(["hunter2-hunter2"]).redact_json_text(json.dumps({"text": text}))
    assert "hunter2" not in clean
    assert json.loads(clean)["text"] == text.replace("hunter2-hunter2", MARK)


def test_a_secret_that_is_longer_than_a_piece_of_a_document_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redaction, "_PIECE", 4_096)
    monkeypatch.setattr(redaction, "_OVERLAP", 1_024)
    secret = "long-secret-" * 450
    for before in (0, 3_000, 4_095):
        assert "secret" not in Redactor([secret]).redact_json_text(
            json.dumps(["." * before + secret])
        )
