"""Tokens that a verifier must refuse, each with one flaw and otherwise valid.

Importing this module loads cryptography: do it when a token is needed. Sources of the flaws: RFC
8725 (JSON Web Token Best Current Practices), RFC 9068, and the CVEs of verifiers that accepted
them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeAlias

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID

from harness.sessions.identity.keys import (
    PrivateKey,
    PublicKey,
    certificate_digest,
    new_key,
    public_jwk,
)
from harness.types import Credential, JsonObject, TokenAlgorithm

LIFETIME_S = 300.0
"""Seconds from issue to expiry: far longer than a request, and expired tomorrow."""
EXPIRED_S = 3600.0
"""Seconds since the expiry of an expired token: no verifier tolerates that many."""
LATELY_S = 600.0
"""Seconds since the expiry of a recently expired token: more than clocks may differ."""
WRONG_AUDIENCE = "https://another-service.invalid"
"""The audience of a token for another service."""
OTHER_KEYS = "/other-keys.json"
"""Path below the issuer that serves the key of `Forger`, as an attacker's server would."""
OTHER_CERTIFICATE = "/other-certificate.pem"
"""Path of the certificate of that key."""
_EMPTY_FILE = "../../../../../../../../dev/null"

Claims: TypeAlias = dict[str, Any]
"""The payload of a token."""


def flawed_claims(
    credential: Credential, claims: JsonObject, expired_s: float | None = None
) -> Claims:
    """Return ``claims`` with the flaw of ``credential``, if its flaw is in the claims.

    ``expired_s`` is the number of seconds since the expiry of an ``expired`` token; by default
    `EXPIRED_S`.
    """
    change = _CLAIMS.get(credential)
    if credential == "expired" and expired_s is not None:
        change = _later(-expired_s - LIFETIME_S)
    changed = dict(claims)
    if change is not None:
        change(changed)
    return changed


def _later(seconds: float) -> Callable[[Claims], None]:
    """Return a change that shifts all times by ``seconds``."""

    def move(claims: Claims) -> None:
        for name in ("iat", "nbf", "exp"):
            claims[name] += int(seconds)

    return move


def _without(name: str) -> Callable[[Claims], None]:
    return lambda claims: claims.pop(name)


def _with(name: str, value: Callable[[Any], Any]) -> Callable[[Claims], None]:
    def put(claims: Claims) -> None:
        claims[name] = value(claims[name])

    return put


def _not_yet(claims: Claims) -> None:
    claims["nbf"] += int(EXPIRED_S)
    claims["exp"] += 2 * int(EXPIRED_S)


_CLAIMS: Mapping[Credential, Callable[[Claims], Any]] = {
    "expired": _later(-EXPIRED_S - LIFETIME_S),
    "expired_lately": _later(-LATELY_S - LIFETIME_S),
    "not_yet_valid": _not_yet,
    "missing_expiry": _without("exp"),
    "wrong_audience": _with("aud", lambda _: WRONG_AUDIENCE),
    "other_audiences": _with("aud", lambda _: [WRONG_AUDIENCE, "https://third.invalid"]),
    "longer_audience": _with("aud", lambda own: f"{own}-of-another-service"),
    "missing_audience": _without("aud"),
    "wrong_issuer": _with("iss", lambda _: "https://another-issuer.invalid"),
    "longer_issuer": _with("iss", lambda own: f"{own}.another-issuer.invalid"),
    "missing_issuer": _without("iss"),
}


@dataclass(frozen=True)
class Forger:
    """Signs tokens as an attacker does, who knows only the issuer's public data."""

    issuer: str
    """URL of the issuer."""
    key_id: str
    """The issuer's key id."""
    public: PublicKey
    """The issuer's public key."""
    algorithm: TokenAlgorithm = "RS256"
    """The issuer's algorithm, which the forger's own key is for, too."""

    def signed(self, credential: Credential, payload: bytes) -> str | None:
        """Return the token with the flawed signature; ``None`` if its flaw is elsewhere."""
        make = _SIGNATURES.get(credential)
        return None if make is None else make(self, payload)

    @cached_property
    def documents(self) -> dict[str, Any]:
        """The documents that an attacker would serve: path → JSON, or a text."""
        return {OTHER_KEYS: {"keys": [self._jwk]}, OTHER_CERTIFICATE: self._pem}

    @cached_property
    def _own(self) -> PrivateKey:
        return new_key(self.algorithm)

    @cached_property
    def _own_id(self) -> str:
        return uuid.uuid4().hex

    @cached_property
    def _jwk(self) -> dict[str, Any]:
        return public_jwk(self.algorithm, self._own.public_key(), self._own_id)

    @cached_property
    def _certificate(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "harness")])
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._own.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
        )
        return builder.sign(self._own, certificate_digest(self.algorithm))

    @cached_property
    def _pem(self) -> str:
        return self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def by_own_key(self, payload: bytes, **headers: Any) -> str:
        """Return the token signed with the forger's own key."""
        told = {"typ": "JWT", "kid": self._own_id, **headers}
        return jwt.PyJWS().encode(payload, self._own, algorithm=self.algorithm, headers=told)

    def by_secret(self, payload: bytes, secret: bytes, key_id: str) -> str:
        """Return the token signed with HS256."""
        head = _part(json.dumps({"alg": "HS256", "typ": "JWT", "kid": key_id}).encode())
        signed = f"{head}.{_part(payload)}"
        return f"{signed}.{_part(hmac.digest(secret, signed.encode(), hashlib.sha256))}"

    def unsigned(self, payload: bytes) -> str:
        """Return the token that claims to be unsigned."""
        head = _part(json.dumps({"alg": "none", "typ": "JWT", "kid": self.key_id}).encode())
        return f"{head}.{_part(payload)}."

    def public_pem(self) -> bytes:
        """Return the issuer's public key in PEM."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.public.public_bytes(serialization.Encoding.PEM, form)

    def embedded_certificate(self, payload: bytes) -> str:
        """Return the token with the certificate of the forger's key in its header."""
        der = self._certificate.public_bytes(serialization.Encoding.DER)
        return self.by_own_key(payload, x5c=[base64.b64encode(der).decode()])

    def embedded_key(self, payload: bytes) -> str:
        """Return the token with the forger's key in its header."""
        return self.by_own_key(payload, jwk=self._jwk)


_SIGNATURES: Mapping[Credential, Callable[[Forger, bytes], str]] = {
    "alg_none": Forger.unsigned,
    "hmac_with_public_key": lambda forger, payload: forger.by_secret(
        payload, forger.public_pem(), forger.key_id
    ),
    "key_path": lambda forger, payload: forger.by_secret(payload, b"", _EMPTY_FILE),
    "other_key": lambda forger, payload: forger.by_own_key(payload, kid=forger.key_id),
    "embedded_key": Forger.embedded_key,
    "embedded_certificate": Forger.embedded_certificate,
    "key_url": lambda forger, payload: forger.by_own_key(
        payload, jku=f"{forger.issuer}{OTHER_KEYS}"
    ),
    "certificate_url": lambda forger, payload: forger.by_own_key(
        payload, x5u=f"{forger.issuer}{OTHER_CERTIFICATE}"
    ),
    "unreadable": lambda _forger, _payload: uuid.uuid4().hex,
}


def with_broken_signature(credential: Credential, token: str) -> str:
    """Return the issuer's ``token`` with its signature broken, if that is the flaw."""
    signed, _, signature = token.rpartition(".")
    if credential == "no_signature":
        return f"{signed}."
    if credential == "bad_signature":  # right length, every bit wrong
        wrong = bytes(byte ^ 0xFF for byte in base64.urlsafe_b64decode(f"{signature}=="))
        return f"{signed}.{_part(wrong)}"
    return token


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
