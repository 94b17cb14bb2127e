"""The issuer of a run, as a verifier sees it."""

from __future__ import annotations

import socket
import struct
import threading
import time
import urllib.request
from collections.abc import Iterator

import anyio
import httpx2
import jwt
import pytest

from harness.base.errors import ServerError
from harness.sessions.identity.issuer import Issuer, Issuers
from harness.types import Credential
from tests.clock import BOUND_S

AUDIENCE = "http://127.0.0.1:8000/mcp"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    yield issuer
    issuer.close()


def verified(issuer: Issuer, token: str) -> dict[str, object]:
    """Verify as a server does that knows only the issuer's URL."""
    configuration = httpx2.get(f"{issuer.url}/.well-known/openid-configuration", timeout=20).json()
    assert configuration["issuer"] == issuer.url
    key = jwt.PyJWKClient(configuration["jwks_uri"], timeout=20).get_signing_key_from_jwt(token)
    claims: dict[str, object] = jwt.decode(
        token,
        key,
        algorithms=["RS256"],
        audience=AUDIENCE,
        issuer=issuer.url,
        options={"require": ["exp", "iat", "sub"]},
    )
    return claims


def test_a_good_token_says_who_it_is_about_and_does_not_live_long(issuer: Issuer) -> None:
    token = issuer.issue_token(
        {"sub": "ann", "roles": ["a"]}, audience=AUDIENCE, credential="valid"
    )
    claims = verified(issuer, token.text)
    assert (claims["sub"], claims["roles"], claims["iss"], claims["aud"]) == (
        "ann",
        ["a"],
        issuer.url,
        AUDIENCE,
    )
    assert time.time() < token.expires_at < time.time() + 600  # type: ignore[operator]
    assert (
        claims["jti"]
        != verified(
            issuer, issuer.issue_token({"sub": "a"}, audience=AUDIENCE, credential="valid").text
        )["jti"]
    )
    assert token.text not in repr(token)


def test_claims_of_the_issuer_are_its_own_whatever_it_is_handed(issuer: Issuer) -> None:
    mine = {"sub": "a", "iss": "me", "aud": "you", "exp": 1, "nbf": 2e12, "iat": 2e12, "jti": "x"}
    assert (
        verified(issuer, issuer.issue_token(mine, audience=AUDIENCE, credential="valid").text)[
            "iss"
        ]
        == issuer.url
    )


@pytest.mark.parametrize(
    ("credential", "error"),
    [
        ("expired", jwt.ExpiredSignatureError),
        ("wrong_audience", jwt.InvalidAudienceError),
        ("bad_signature", jwt.InvalidSignatureError),
    ],
)
def test_a_flawed_token_has_that_one_flaw(
    issuer: Issuer, credential: Credential, error: type[Exception]
) -> None:
    token = issuer.issue_token({"sub": "ann"}, audience=AUDIENCE, credential=credential)
    with pytest.raises(error):
        verified(issuer, token.text)


@pytest.mark.parametrize("document", ["openid-configuration", "oauth-authorization-server"])
def test_discovery_leads_to_the_key(issuer: Issuer, document: str) -> None:
    found = httpx2.get(f"{issuer.url}/.well-known/{document}", timeout=20).json()
    (key,) = httpx2.get(found["jwks_uri"], timeout=20).json()["keys"]
    assert (key["kty"], key["alg"], key["use"]) == ("RSA", "RS256", "sig")
    assert not set(key) & {"d", "p", "q", "dp", "dq", "qi"}


def test_there_is_nothing_else_to_be_had(issuer: Issuer) -> None:
    assert httpx2.get(f"{issuer.url}/token", timeout=20).status_code == 404


def test_a_client_that_hangs_up_in_mid_request_is_no_news_for_the_terminal(
    issuer: Issuer, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(
        ("127.0.0.1", int(issuer.url.rpartition(":")[2])), timeout=20
    ) as client:
        client.sendall(b"GET /jwks.json HTTP/1.1\r\nHost:")
        client.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )  # reset, not closed
    assert (
        httpx2.get(issuer.jwks_url, timeout=20).status_code == 200
    )  # by now the one before has its thread
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(5)
            assert not thread.is_alive()
    assert capfd.readouterr() == ("", "")


def test_it_listens_on_loopback_alone_and_no_longer_than_it_has_to() -> None:
    issuer = Issuer()
    assert issuer.url.startswith("http://127.0.0.1:")
    issuer.close()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(issuer.jwks_url, timeout=20)


@pytest.mark.anyio
async def test_a_port_has_one_issuer_and_a_taken_port_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        issuers = Issuers()
        with (
            anyio.fail_after(BOUND_S),
            pytest.raises(ServerError, match=f"port {port} of 127.0.0.1 is taken"),
        ):
            await issuers.get_issuer(port)
    with anyio.fail_after(BOUND_S):
        assert (await issuers.get_issuer(port)).url == f"http://127.0.0.1:{port}"
        assert await issuers.get_issuer(port) is await issuers.get_issuer(port)
        assert await issuers.get_issuer(None) is not await issuers.get_issuer(port)
        assert await issuers.get_issuer(None, "ES256") is not await issuers.get_issuer(None)
        await issuers.aclose()
