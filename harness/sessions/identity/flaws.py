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
# A verifier that takes the key id for a path reads an empty key there, which anybody knows.
_EMPTY_FILE = "../../../../../../../../dev/null"

Claims: TypeAlias = dict[str, Any]
"""The payload of a token."""


def apply_claims_flaw(
    credential: Credential, claims: JsonObject, expired_s: float | None = None
) -> Claims:
    """Return ``claims`` with the flaw of ``credential``, if its flaw is in the claims.

    ``expired_s`` is the number of seconds since the expiry of an ``expired`` token; by default
    `EXPIRED_S`.
    """
    change = _CLAIMS.get(credential)
    if credential == "expired" and expired_s is not None:
        change = _shift_times(-expired_s - LIFETIME_S)
    changed = dict(claims)
    if change is not None:
        change(changed)
    return changed


def _shift_times(seconds: float) -> Callable[[Claims], None]:
    """Return a change that shifts all times by ``seconds``."""

    def move(claims: Claims) -> None:
        for name in ("iat", "nbf", "exp"):
            claims[name] += int(seconds)

    return move


def _drop_claim(name: str) -> Callable[[Claims], None]:
    return lambda claims: claims.pop(name)


def _change_claim(name: str, value: Callable[[Any], Any]) -> Callable[[Claims], None]:
    def put(claims: Claims) -> None:
        claims[name] = value(claims[name])

    return put


def _delay_validity(claims: Claims) -> None:
    claims["nbf"] += int(EXPIRED_S)
    # The expiry moves along, so that the token has only one flaw.
    claims["exp"] += 2 * int(EXPIRED_S)


_CLAIMS: Mapping[Credential, Callable[[Claims], Any]] = {
    # The whole lifetime lies in the past, not only its end.
    "expired": _shift_times(-EXPIRED_S - LIFETIME_S),
    "expired_lately": _shift_times(-LATELY_S - LIFETIME_S),
    "not_yet_valid": _delay_validity,
    "missing_expiry": _drop_claim("exp"),
    "wrong_audience": _change_claim("aud", lambda _: WRONG_AUDIENCE),
    "other_audiences": _change_claim("aud", lambda _: [WRONG_AUDIENCE, "https://third.invalid"]),
    # For verifiers that compare only the beginning, as the longer issuer below.
    "longer_audience": _change_claim("aud", lambda own: f"{own}-of-another-service"),
    "missing_audience": _drop_claim("aud"),
    "wrong_issuer": _change_claim("iss", lambda _: "https://another-issuer.invalid"),
    "longer_issuer": _change_claim("iss", lambda own: f"{own}.another-issuer.invalid"),
    "missing_issuer": _drop_claim("iss"),
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

    def sign_flawed(self, credential: Credential, payload: bytes) -> str | None:
        """Return the token with the flawed signature; ``None`` if its flaw is elsewhere."""
        make = _SIGNATURES.get(credential)
        return None if make is None else make(self, payload)

    @cached_property
    def documents(self) -> dict[str, Any]:
        """The documents that an attacker would serve: path → JSON, or a text."""
        return {OTHER_KEYS: {"keys": [self._jwk]}, OTHER_CERTIFICATE: self._pem}

    @cached_property
    def _forger_key(self) -> PrivateKey:
        return new_key(self.algorithm)

    @cached_property
    def _forger_key_id(self) -> str:
        return uuid.uuid4().hex

    @cached_property
    def _jwk(self) -> dict[str, Any]:
        return public_jwk(self.algorithm, self._forger_key.public_key(), self._forger_key_id)

    @cached_property
    def _certificate(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "harness")])
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._forger_key.public_key())
            .serial_number(x509.random_serial_number())
            # Valid on any clock, so that the certificate is not a second flaw.
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
        )
        return builder.sign(self._forger_key, certificate_digest(self.algorithm))

    @cached_property
    def _pem(self) -> str:
        return self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def sign_with_key(self, payload: bytes, **headers: Any) -> str:
        """Return the token signed with the forger's own key."""
        told = {"typ": "JWT", "kid": self._forger_key_id, **headers}
        return jwt.PyJWS().encode(payload, self._forger_key, algorithm=self.algorithm, headers=told)

    def sign_with_secret(self, payload: bytes, secret: bytes, key_id: str) -> str:
        """Return the token signed with HS256."""
        # By hand, because PyJWT refuses a public key as the secret.
        head = _encode_part(json.dumps({"alg": "HS256", "typ": "JWT", "kid": key_id}).encode())
        signed = f"{head}.{_encode_part(payload)}"
        return f"{signed}.{_encode_part(hmac.digest(secret, signed.encode(), hashlib.sha256))}"

    def build_unsigned(self, payload: bytes) -> str:
        """Return the token that claims to be unsigned."""
        head = _encode_part(json.dumps({"alg": "none", "typ": "JWT", "kid": self.key_id}).encode())
        return f"{head}.{_encode_part(payload)}."

    def public_pem(self) -> bytes:
        """Return the issuer's public key in PEM."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.public.public_bytes(serialization.Encoding.PEM, form)

    def embed_certificate(self, payload: bytes) -> str:
        """Return the token with the certificate of the forger's key in its header."""
        der = self._certificate.public_bytes(serialization.Encoding.DER)
        return self.sign_with_key(payload, x5c=[base64.b64encode(der).decode()])

    def embed_key(self, payload: bytes) -> str:
        """Return the token with the forger's key in its header."""
        return self.sign_with_key(payload, jwk=self._jwk)


_SIGNATURES: Mapping[Credential, Callable[[Forger, bytes], str]] = {
    "alg_none": Forger.build_unsigned,
    # For verifiers that let the token choose the algorithm: the public key becomes the secret.
    "hmac_with_public_key": lambda forger, payload: forger.sign_with_secret(
        payload, forger.public_pem(), forger.key_id
    ),
    "key_path": lambda forger, payload: forger.sign_with_secret(payload, b"", _EMPTY_FILE),
    # Under the issuer's key id, so that only the signature shows the forgery.
    "other_key": lambda forger, payload: forger.sign_with_key(payload, kid=forger.key_id),
    "embedded_key": Forger.embed_key,
    "embedded_certificate": Forger.embed_certificate,
    "key_url": lambda forger, payload: forger.sign_with_key(
        payload, jku=f"{forger.issuer}{OTHER_KEYS}"
    ),
    "certificate_url": lambda forger, payload: forger.sign_with_key(
        payload, x5u=f"{forger.issuer}{OTHER_CERTIFICATE}"
    ),
    "unreadable": lambda _forger, _payload: uuid.uuid4().hex,
}


def break_signature(credential: Credential, token: str) -> str:
    """Return the issuer's ``token`` with its signature broken, if that is the flaw."""
    signed, _, signature = token.rpartition(".")
    if credential == "no_signature":
        return f"{signed}."
    if credential == "bad_signature":  # right length, every bit wrong
        wrong = bytes(byte ^ 0xFF for byte in base64.urlsafe_b64decode(f"{signature}=="))
        return f"{signed}.{_encode_part(wrong)}"
    return token


def _encode_part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
