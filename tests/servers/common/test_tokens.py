"""Who asks over HTTP: only what a verified token says, on our own servers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from jwt.algorithms import RSAAlgorithm

from harness.base.errors import NotAdmitted
from harness.sessions.identity.issuer import Issuer
from harness.sessions.pool import open_sessions
from harness.types import (
    IdentitySpec,
    ServerSpec,
    TransportSpec,
)
from servers.common.start import serve_to_all
from servers.common.tokens import TokenVerifier, Trust
from servers.finance.server import make_server
from tests.clock import BOUND_S
from tests.end_to_end.warm import warm_python
from tests.sessions.servers import call

AUDIENCE = "http://127.0.0.1:1/mcp"
ROOT = Path(__file__).parents[3]
ADMIN = {"role": "admin", "permissions": ["pii:read"]}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    yield issuer
    issuer.close()


def trust(by: Issuer, **changes: str) -> Trust:
    return Trust(**{"issuer": by.url, "jwks_url": by.jwks_url, "audience": AUDIENCE, **changes})


async def verify(trust: Trust, token: str) -> dict[str, Any] | None:
    with anyio.fail_after(BOUND_S):
        found = await TokenVerifier(trust).verify_token(token)
    return None if found is None else found.claims


def good(issuer: Issuer) -> str:
    return issuer.issue_token(
        {"sub": "ann", "role": "admin"}, audience=AUDIENCE, credential="valid"
    ).text


def public_pem(issuer: Issuer) -> bytes:
    key = RSAAlgorithm.from_jwk(issuer._key.build_jwks()["keys"][0])
    assert not hasattr(key, "private_numbers")
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def signed_with_public_key(issuer: Issuer) -> str:
    """The classic forgery: a symmetric signature by the key that everybody may know."""
    import base64
    import hashlib
    import hmac
    import json

    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    kid = issuer._key.build_jwks()["keys"][0]["kid"]
    claims = {"sub": "a", "iss": issuer.url, "aud": AUDIENCE, "exp": 4_000_000_000}
    text = part({"alg": "HS256", "typ": "JWT", "kid": kid}) + b"." + part(claims)
    signature = hmac.new(public_pem(issuer), text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


def unsigned(issuer: Issuer) -> str:
    kid = issuer._key.build_jwks()["keys"][0]["kid"]
    claims = {"sub": "a", "iss": issuer.url, "aud": AUDIENCE, "exp": 4_000_000_000}
    return jwt.encode(claims, "", algorithm="none", headers={"kid": kid})


@pytest.mark.anyio
async def test_a_good_token_tells_who_asks(issuer: Issuer) -> None:
    claims = await verify(trust(issuer), good(issuer))
    assert claims is not None
    assert (claims["sub"], claims["role"]) == ("ann", "admin")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "make",
    [
        lambda issuer: (
            issuer.issue_token({"sub": "a"}, audience=AUDIENCE, credential="expired").text
        ),
        lambda issuer: (
            issuer.issue_token({"sub": "a"}, audience=AUDIENCE, credential="wrong_audience").text
        ),
        lambda issuer: (
            issuer.issue_token({"sub": "a"}, audience=AUDIENCE, credential="bad_signature").text
        ),
        lambda issuer: issuer.issue_token({}, audience=AUDIENCE, credential="valid").text,
        lambda issuer: good(issuer)[:-20],
        lambda _: "",
        lambda _: "eyJhbGciOiJub25lIn0.e30.",
        signed_with_public_key,
        unsigned,
    ],
)
async def test_a_token_with_any_flaw_counts_for_nothing(
    issuer: Issuer, make: Callable[[Issuer], str]
) -> None:
    assert await verify(trust(issuer), make(issuer)) is None


@pytest.mark.anyio
async def test_only_the_expected_issuer_counts_and_one_that_is_away_lets_nobody_in(
    issuer: Issuer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await verify(trust(issuer, issuer="https://other.example"), good(issuer)) is None
    assert (
        await verify(trust(issuer, jwks_url="http://127.0.0.1:9/jwks.json"), good(issuer)) is None
    )
    assert "the keys of the issuer could not be fetched" in capsys.readouterr().err


def own(
    *options: str, transport: str = "http", via: str = "bearer", env: dict[str, str] | None = None
) -> ServerSpec:
    return ServerSpec(
        name="data_governance",
        transport=TransportSpec(
            command=warm_python(),
            args=(
                "-m",
                "servers.data_governance",
                "--transport",
                transport,
                "--port",
                "{port}",
                *options,
            ),
            env=env or {},
            cwd=str(ROOT),
            kind=transport,
        ),
        identity=IdentitySpec(via=via),
    )


async def personal_data(spec: ServerSpec, user: dict[str, Any] | None) -> str:
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(spec, user) as session:
            arguments = {"customer_id": "CUST_00042", "include_pii": True}
            return (await call(session, "get_customer_details", arguments)).outcome


@pytest.mark.anyio
async def test_over_http_neither_meta_nor_the_environment_makes_anybody_an_administrator() -> None:
    claimed = {"HARNESS_USER_CONTEXT": '{"role": "admin", "permissions": ["pii:read"]}'}
    lies = own("--allow-anonymous", via="meta", env=claimed)
    assert await personal_data(lies, ADMIN) in {"denied", "unknown_tool"}


@pytest.mark.anyio
async def test_over_sse_a_token_tells_who_asks_and_a_bad_one_is_nobodys_way_in() -> None:
    spec = own("--allow-anonymous", transport="sse")
    with anyio.fail_after(BOUND_S):
        async with open_sessions() as pool, pool.lend_session(spec, ADMIN) as session:
            arguments = {"customer_id": "CUST_00042", "include_pii": True}
            assert (await call(session, "get_customer_details", arguments)).outcome == "ok"
            async with pool.lend_session(spec, None) as nobody:
                assert (await call(nobody, "get_customer_details", arguments)).outcome != "ok"
            with pytest.raises(NotAdmitted):
                async with pool.lend_session(spec, ADMIN, "expired"):
                    pass


_TRUSTED = [
    "--transport",
    "http",
    "--port",
    "1",
    "--issuer",
    "http://i.test",
    "--jwks-url",
    "http://i.test/keys",
]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--transport", "http"], "--transport http needs --port"),
        (["--port", "1"], "need --transport http or sse"),
        (
            ["--transport", "sse", "--port", "1"],
            "it takes --issuer and --jwks-url to tell who asks",
        ),
        (
            ["--transport", "http", "--port", "1", "--issuer", "x"],
            "it takes --issuer and --jwks-url",
        ),
        (["--transport", "http", "--port", "99999"], "'99999' is no port: 0 to 65535"),
        (["--transport", "http", "--port", "-1"], "'-1' is no port"),
        (
            [*_TRUSTED, "--audience", "not a url"],
            "the audience is no URL of http or https: 'not a url'",
        ),
        ([*_TRUSTED, "--issuer", "nobody"], "the issuer is no URL"),
        ([*_TRUSTED, "--jwks-url", "file:///keys"], "the jwks-url is no URL"),
    ],
)
def test_a_start_that_cannot_tell_who_asks_or_where_is_refused(
    options: list[str],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["servers.finance", *options])
    with pytest.raises(SystemExit) as caught:
        serve_to_all("finance", "Prices.", make_server)
    assert caught.value.code == 2
    assert problem in capsys.readouterr().err
