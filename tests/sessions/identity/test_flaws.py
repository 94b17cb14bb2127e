"""Flawed tokens: a strict verifier refuses each, and the verifier with that weakness accepts it."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

import httpx2
import jwt
import pytest
from cryptography import x509
from jwt.algorithms import HMACAlgorithm

from harness.base.transports import load_tls_context
from harness.sessions.identity.issuer import Issuer
from harness.types import FLAWS, Credential, TokenAlgorithm

AUDIENCE = "http://127.0.0.1:8000/mcp"


@pytest.fixture(scope="module", params=get_args(TokenAlgorithm))
def issuer(request: pytest.FixtureRequest) -> Iterator[Issuer]:
    issuer = Issuer(algorithm=request.param)
    yield issuer
    issuer.close()


def got(url: str) -> httpx2.Response:
    return httpx2.get(url, timeout=20, verify=load_tls_context())


def names_us(audience: Any) -> bool:
    return AUDIENCE in ([audience] if isinstance(audience, str) else audience)


@dataclass
class Verifier:
    """Verifies as servers do; whatever is set differently is a weakness."""

    issuer: Issuer
    required: tuple[str, ...] = ("exp", "aud", "iss")
    leeway: float = 60
    checks: tuple[str, ...] = ("exp", "nbf", "aud", "iss")
    is_for_us: Callable[[Any], bool] = names_us
    is_issuer: Callable[[str, str], bool] = str.__eq__
    key: Callable[[Verifier, dict[str, Any]], Any] | None = None
    """Takes the key from where the header of the token says."""
    signed: bool = True
    lets_errors_in: bool = False

    def accepts(self, token: str) -> bool:
        if self.lets_errors_in:
            return token.count(".") != 2 or self.verifies(token)
        return self.verifies(token)

    def verifies(self, token: str) -> bool:
        if self.signed:
            try:
                self._check_signature(token, jwt.get_unverified_header(token))
            except jwt.PyJWTError:
                return False
        claims = jwt.decode(token, options={"verify_signature": False})
        now = time.time()
        right: dict[str, Callable[[Any], bool]] = {
            "exp": lambda until: now < until + self.leeway,
            "nbf": lambda since: since - self.leeway <= now,
            "aud": self.is_for_us,
            "iss": lambda issuer: self.is_issuer(issuer, self.issuer.url),
        }
        return all(name in claims for name in self.required) and all(
            right[name](claims[name]) for name in self.checks if name in claims
        )

    def _check_signature(self, token: str, header: dict[str, Any]) -> None:
        keys = got(self.issuer.jwks_url).json()["keys"]
        algorithms = [keys[0]["alg"]]
        if self.key is not None:
            key = self.key(self, header)
            algorithms = [header["alg"]]
        else:
            own = [one for one in keys if one["kid"] == header.get("kid")]
            if not own:
                raise jwt.InvalidTokenError("unknown key")
            key = jwt.PyJWK(own[0]).key
        if algorithms == ["HS256"]:
            signed, _, signature = token.rpartition(".")
            given = base64.urlsafe_b64decode(f"{signature}==")
            algorithm = HMACAlgorithm(HMACAlgorithm.SHA256)
            if not algorithm.verify(signed.encode(), key, given):
                raise jwt.InvalidSignatureError
            return
        jwt.PyJWS().decode(token, key, algorithms=algorithms)


def public_pem(verifier: Verifier, header: dict[str, Any]) -> Any:
    from cryptography.hazmat.primitives import serialization

    [key] = got(verifier.issuer.jwks_url).json()["keys"]
    public: Any = jwt.PyJWK(key).key
    if header["alg"] == key["alg"]:
        return public
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return public.public_bytes(serialization.Encoding.PEM, form)


def fetched(name: str) -> Callable[[Verifier, dict[str, Any]], Any]:
    def key(_verifier: Verifier, header: dict[str, Any]) -> Any:
        answer = got(header[name])
        if name == "jku":
            return jwt.PyJWK(answer.json()["keys"][0]).key
        return x509.load_pem_x509_certificate(answer.content).public_key()

    return key


def brought(_verifier: Verifier, header: dict[str, Any]) -> Any:
    if "jwk" in header:
        return jwt.PyJWK(header["jwk"]).key
    return x509.load_der_x509_certificate(base64.b64decode(header["x5c"][0])).public_key()


def opened(_verifier: Verifier, header: dict[str, Any]) -> Any:
    with open(f"/{header['kid'].lstrip('./')}", "rb") as file:  # noqa: PTH123 - as the weak one does
        return file.read()


UNSIGNED: dict[str, Any] = {"signed": False}
WEAKNESSES: dict[Credential, dict[str, Any]] = {
    "expired": {"checks": ("nbf", "aud", "iss")},
    "expired_lately": {"leeway": 1000},
    "not_yet_valid": {"checks": ("exp", "aud", "iss")},
    "missing_expiry": {"required": ("aud", "iss")},
    "wrong_audience": {"checks": ("exp", "nbf", "iss")},
    "other_audiences": {"is_for_us": lambda given: isinstance(given, list) or given == AUDIENCE},
    "longer_audience": {"is_for_us": lambda given: str(given).startswith(AUDIENCE)},
    "missing_audience": {"required": ("exp", "iss")},
    "wrong_issuer": {"checks": ("exp", "nbf", "aud")},
    "longer_issuer": {"is_issuer": str.startswith},
    "missing_issuer": {"required": ("exp", "aud")},
    "bad_signature": UNSIGNED,
    "no_signature": UNSIGNED,
    "alg_none": UNSIGNED,
    "hmac_with_public_key": {"key": public_pem},
    "other_key": UNSIGNED,
    "embedded_key": {"key": brought},
    "embedded_certificate": {"key": brought},
    "key_url": {"key": fetched("jku")},
    "certificate_url": {"key": fetched("x5u")},
    "key_path": {"key": opened},
    "unreadable": {"lets_errors_in": True},
}


def shown(issuer: Issuer, credential: Credential) -> str:
    return issuer.issue_token({"sub": "ann"}, audience=AUDIENCE, credential=credential).text


def test_every_flaw_has_a_weakness_here_and_words_for_a_report() -> None:
    assert set(WEAKNESSES) == set(FLAWS) == set(get_args(Credential)) - {"valid", "none"}
    assert len({flaw.words for flaw in FLAWS.values()}) == len(FLAWS)


def test_a_strict_verifier_accepts_the_valid_token(issuer: Issuer) -> None:
    assert Verifier(issuer).accepts(shown(issuer, "valid"))


@pytest.mark.parametrize("credential", FLAWS)
def test_a_strict_verifier_refuses_every_flawed_token(
    issuer: Issuer, credential: Credential
) -> None:
    assert not Verifier(issuer).accepts(shown(issuer, credential))


@pytest.mark.parametrize("credential", FLAWS)
def test_a_flawed_token_has_one_flaw_so_that_one_weakness_lets_it_in(
    issuer: Issuer, credential: Credential
) -> None:
    assert Verifier(issuer, **WEAKNESSES[credential]).accepts(shown(issuer, credential))


@pytest.mark.parametrize("minutes", [1, 7])
def test_an_expired_token_may_have_any_age(issuer: Issuer, minutes: int) -> None:
    claims = {"sub": "ann"}
    token = issuer.issue_token(
        claims, audience=AUDIENCE, credential="expired", expired_s=60.0 * minutes
    ).text
    assert Verifier(issuer, leeway=60 * minutes + 30).accepts(token)
    assert not Verifier(issuer, leeway=60 * minutes - 30).accepts(token)


def test_a_forger_has_no_key_of_the_issuer(issuer: Issuer) -> None:
    strangers = got(f"{issuer.url}/other-keys.json").json()["keys"]
    [own] = got(issuer.jwks_url).json()["keys"]
    public = "n" if own["alg"] == "RS256" else "x"
    assert [key[public] for key in strangers] != [own[public]]
    assert "d" not in strangers[0]


def test_a_forger_signs_by_the_issuers_own_algorithm(issuer: Issuer) -> None:
    own = jwt.get_unverified_header(shown(issuer, "valid"))
    forged = jwt.get_unverified_header(shown(issuer, "other_key"))
    assert (forged["alg"], forged["kid"]) == (own["alg"], own["kid"])
