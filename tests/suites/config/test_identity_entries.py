"""``identity: {via: bearer, …}`` of a server.

What may stand there, and what is told of mistakes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.runner.planning.plan import describe_server
from harness.suites.config import Config, load_config
from harness.types import (
    IdentitySpec,
    ServerSpec,
    TransportSpec,
)

Configure = Callable[..., Config]


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return a function that makes the configuration of a server with the given identity."""
    monkeypatch.chdir(tmp_path)

    def make(identity: str, **environ: str) -> Config:
        text = f"servers:\n  shop:\n    url: http://127.0.0.1:8000/mcp\n    identity: {identity}\n"
        (tmp_path / "harness.yml").write_text(text)
        return load_config(tmp_path, environ)

    return make


def test_every_setting_of_a_bearer_reaches_the_server(configure: Configure) -> None:
    config = configure(
        "{via: bearer, claims: {realm.roles: ['{role}'], tenant: '${TENANT}'}, scope: 'read "
        "{scopes}', "
        "audience: '${API}', issuer_port: 9400, algorithm: EdDSA}",
        TENANT="acme",
        API="https://api.example",
    )
    assert config.resolve_server("shop", "any").identity == IdentitySpec(
        via="bearer",
        plain={
            "claims": {"realm.roles": ["{role}"], "tenant": "acme"},
            "scope": "read {scopes}",
            "audience": "https://api.example",
            "issuer_port": 9400,
            "algorithm": "EdDSA",
        },
    )


def test_a_token_command_is_expanded_and_appears_in_no_log(configure: Configure) -> None:
    config = configure(
        "{via: bearer, token_command: 'idp token --key ${IDP_KEY}'}", IDP_KEY="hunter2-hunter2"
    )
    server = config.resolve_server("shop", "any")
    assert server.identity.settings["token_command"] == "idp token --key hunter2-hunter2"
    assert server.transport.cwd == str(Path.cwd()), "it is run where the configuration stands"
    assert "hunter2" not in repr(server)
    assert "hunter2" not in str(describe_server(server))
    assert describe_server(server)["identity"]["token_command"] is True


@pytest.mark.parametrize(
    ("identity", "problem"),
    [
        ("{via: meta, claims: {a: b}}", "'claims' has no effect on identity via meta"),
        (
            "{via: header, headers: {X: y}, token_command: x}",
            "'token_command' has no effect on identity via header",
        ),
        ("{via: bearer, json_variable: X}", "'json_variable' has no effect on identity via bearer"),
        ("{via: bearer, token_env: [X]}", "'token_env' has no effect without a 'token_command'"),
        ("{via: meta, token_env: [X]}", "'token_env' has no effect on identity via meta"),
        (
            "{via: bearer, token_command: x, scope: y}",
            "'scope' has no effect beside 'token_command'",
        ),
        (
            "{via: bearer, token_command: x, issuer_port: 9}",
            "'issuer_port' has no effect beside 'token_command'",
        ),
        (
            "{via: bearer, token_command: x, algorithm: ES256}",
            "'algorithm' has no effect beside 'token_command'",
        ),
        ("{via: bearer, algorithm: HS256}", "HS256"),
        ("{via: query}", "identity via query names no parameter"),
        ("query", "identity via query names no parameter"),
        ("{via: query, headers: {X: y}, parameters: {a: b}}", "'headers' has no effect on"),
        ("{via: header, headers: {X: y}, parameters: {a: b}}", "'parameters' has no effect on"),
        ("{via: query, parameters: [role]}", "parameters: expected a mapping"),
        ("{via: query, parameters: {'': role}}", "a parameter has no name"),
        ("{via: query, parameters: {sessionId: x}}", "'sessionId' names a session"),
        ("{via: query, parameter: {role: x}}", "Did you mean 'parameters'?"),
        ("{via: bearer, claims: {exp: '{until}'}}", "the claim 'exp' cannot be set"),
        ("{via: bearer, claims: {iss.name: x}}", "the claim 'iss' cannot be set"),
        (
            "{via: bearer, claims: {a: x, a.b: y}}",
            "the claim 'a.b' would be inside the claim 'a'",
        ),
        ("{via: bearer, claims: {a..b: y}}", "a step has no name in the path 'a..b'"),
        ("{via: bearer, claims: [role]}", "claims: expected a mapping"),
        ("{via: bearer, issuer_port: 70000}", "there are no ports above 65535, found 70000"),
        ("{via: bearer, issuer_port: true}", "expected a whole number from 1 up"),
        (
            "{via: bearer, token_command: 'hunter2 \"'}",
            "the command cannot be read: No closing quotation",
        ),
        ("{via: bearer, token_command: [hunter2]}", "expected a command line"),
        ("{via: bearer, issuer: x}", "harness itself is the issuer"),
        ("{via: header, headers: {X: y}, meta_key: a}", "'meta_key' has no effect on identity via"),
        *(
            (f"{{via: meta, meta_key: '{key}'}}", "is not a key for _meta")
            for key in ("a b", "/user", "com.example/", "1a.b/user", "a..b/user", "a-/b", "_a", "é")
        ),
        *(
            (f"{{via: meta, meta_key: {key}}}", "belongs to MCP itself")
            for key in ("dev.mcp/user", "io.ModelContextProtocol/user", "mcp/user", "traceparent")
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_without_the_command(
    configure: Configure, identity: str, problem: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        configure(identity)
    assert "harness.yml:4:" in str(caught.value)
    assert problem in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["com.example/user", "user", "a-b.c1/d.e_f-g", "com.example.mcp/u"])
def test_the_key_of_meta_reaches_the_server_and_the_log(configure: Configure, key: str) -> None:
    server = configure(f"{{via: meta, meta_key: '{key}'}}").resolve_server("shop", "any")
    assert server.identity.plain["meta_key"] == key
    assert describe_server(server)["identity"]["meta_key"] == key


def test_a_url_is_one_claim_and_no_path(configure: Configure) -> None:
    config = configure(
        "{via: bearer, claims: {'https://iss.example/role': x, 'https://iss.example/role.b': y}}"
    )
    assert len(config.resolve_server("shop", "any").identity.plain["claims"]) == 2


def test_the_log_says_how_a_server_is_told_and_nothing_that_is_not_set() -> None:
    usual = describe_server(ServerSpec(name="s", transport=TransportSpec(command="python")))
    assert usual["identity"] == {"via": "meta"}
    spec = IdentitySpec(
        via="bearer",
        settings={"token_command": "idp --key hunter2"},
        plain={"token_env": ("HOME",)},
    )
    assert describe_server(ServerSpec(name="s", identity=spec))["identity"] == {
        "via": "bearer",
        "token_command": True,
        "token_env": ("HOME",),
    }
