"""Bearer tokens of harness's own issuer: JSON Web Tokens, signed by a key for one run.

Some of them have one flaw and are otherwise valid: a verifier must refuse them. Sources of the
flaws: RFC 8725 (JSON Web Token Best Current Practices), RFC 9068, and the CVEs of verifiers that
accepted them. There is one sort of key pair for each algorithm (RFC 7518, RFC 8037).

Importing this module loads PyJWT and cryptography: do it when a token is needed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from harness.sessions.identity.deliveries.bearer import AGAIN, IN_HEADER
from harness.types import Credential, JsonObject, TokenAlgorithm, dataclass

PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey
# The fewest that RFC 7518 allows for RS256; more would only take longer.
_KEY_BITS = 2048


class _KeyKind(NamedTuple):
    """How keys of one algorithm are made and written."""

    make: Callable[[], PrivateKey]
    to_jwk: Callable[[Any], dict[str, Any]]
    digest: hashes.HashAlgorithm | None
    """Of certificates; EdDSA has its own."""


_SORTS: Mapping[TokenAlgorithm, _KeyKind] = {
    "RS256": _KeyKind(
        lambda: rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS),
        lambda key: RSAAlgorithm.to_jwk(key, as_dict=True),
        hashes.SHA256(),
    ),
    "ES256": _KeyKind(
        lambda: ec.generate_private_key(ec.SECP256R1()),
        lambda key: ECAlgorithm.to_jwk(key, as_dict=True),
        hashes.SHA256(),
    ),
    "EdDSA": _KeyKind(
        ed25519.Ed25519PrivateKey.generate, lambda key: OKPAlgorithm.to_jwk(key, as_dict=True), None
    ),
}


def new_key(algorithm: TokenAlgorithm) -> PrivateKey:
    """Return a new private key for ``algorithm``; slow for RS256."""
    return _SORTS[algorithm].make()


def public_jwk(algorithm: TokenAlgorithm, key: PublicKey, key_id: str) -> dict[str, Any]:
    """Return ``key`` as a JSON Web Key for signatures, under the id ``key_id``."""
    return {**_SORTS[algorithm].to_jwk(key), "kid": key_id, "use": "sig", "alg": algorithm}


def certificate_digest(algorithm: TokenAlgorithm) -> Any:
    """Return the hash with which a certificate is signed by a key for ``algorithm``."""
    return _SORTS[algorithm].digest


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
    if credential == "expired" and expired_s is not None:
        return _shift_times(claims, -expired_s - LIFETIME_S)
    change = _CLAIMS.get(credential, dict)
    return change(claims)


def _shift_times(claims: JsonObject, seconds: float) -> Claims:
    moved = {name: claims[name] + int(seconds) for name in ("iat", "nbf", "exp")}
    return {**claims, **moved}


def _drop_claim(claims: JsonObject, name: str) -> Claims:
    return {key: value for key, value in claims.items() if key != name}


_CLAIMS: Mapping[Credential, Callable[[JsonObject], Claims]] = {
    # The whole lifetime lies in the past, not only its end.
    "expired": lambda claims: _shift_times(claims, -EXPIRED_S - LIFETIME_S),
    "expired_lately": lambda claims: _shift_times(claims, -LATELY_S - LIFETIME_S),
    # The expiry moves along, so that the token has only one flaw.
    "not_yet_valid": lambda claims: {
        **claims,
        "nbf": claims["nbf"] + int(EXPIRED_S),
        "exp": claims["exp"] + 2 * int(EXPIRED_S),
    },
    "missing_expiry": lambda claims: _drop_claim(claims, "exp"),
    "wrong_audience": lambda claims: {**claims, "aud": WRONG_AUDIENCE},
    "other_audiences": lambda claims: {**claims, "aud": [WRONG_AUDIENCE, "https://third.invalid"]},
    # For verifiers that compare only the beginning, as the longer issuer below.
    "longer_audience": lambda claims: {**claims, "aud": f"{claims['aud']}-of-another-service"},
    "missing_audience": lambda claims: _drop_claim(claims, "aud"),
    "wrong_issuer": lambda claims: {**claims, "iss": "https://another-issuer.invalid"},
    "longer_issuer": lambda claims: {**claims, "iss": f"{claims['iss']}.another-issuer.invalid"},
    "missing_issuer": lambda claims: _drop_claim(claims, "iss"),
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


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its expiry."""

    text: str = field(repr=False)
    """The text after ``Bearer``."""
    expires_at: float | None
    """Seconds since the epoch; ``None`` if the token does not say."""


class SigningKey:
    """A key pair for one run: the private half never leaves this object."""

    def __init__(
        self, algorithm: TokenAlgorithm = "RS256", now: Callable[[], float] = time.time
    ) -> None:
        """Make a new pair, which is slow; ``now`` is the clock in seconds since the epoch."""
        self._now = now
        self._algorithm = algorithm
        self._private = new_key(algorithm)
        # new for each key, so that verifiers that cache keys fetch them again
        self._id = uuid.uuid4().hex

    def build_jwks(self) -> dict[str, Any]:
        """Return the public half as a JSON Web Key Set."""
        return {"keys": [public_jwk(self._algorithm, self._private.public_key(), self._id)]}

    def build_forger(self, issuer: str) -> Forger:
        """Return the forger, which signs tokens of ``issuer`` without its key."""
        return Forger(issuer, self._id, self._private.public_key(), self._algorithm)

    def sign(
        self,
        claims: JsonObject,
        *,
        issuer: str,
        audience: str,
        credential: Credential = "valid",
        forger: Forger | None = None,
        expired_s: float | None = None,
    ) -> Token:
        """Return a token with ``claims`` and the issuer's own, with the flaw of ``credential``.

        ``forger`` signs if the flaw is in the signature; by default a new one. ``expired_s``: see
        `harness.sessions.identity.tokens.apply_claims_flaw`.
        """
        issued = self._now()
        right = {
            **claims,
            "iss": issuer,
            "aud": audience,
            "iat": int(issued),
            "nbf": int(issued),
            "exp": int(issued + LIFETIME_S),
            "jti": uuid.uuid4().hex,
        }
        claimed = {
            name.removesuffix(IN_HEADER): right.pop(name)
            for name in list(right)
            if name.endswith(IN_HEADER)
        }
        payload = apply_claims_flaw(credential, right, expired_s)
        # A mapping has no name twice, so the mark of the second claim is cut out of the text.
        data = json.dumps(payload, separators=(",", ":")).replace(
            f'{json.dumps(AGAIN)[1:-1]}":', '":'
        )
        text = (forger or self.build_forger(issuer)).sign_flawed(credential, data.encode())
        if text is None:
            headers = {**claimed, "kid": self._id, "typ": "JWT"}
            # As bytes, because `jwt.encode` takes a mapping, which has no name twice.
            text = jwt.PyJWS().encode(
                data.encode(), self._private, algorithm=self._algorithm, headers=headers
            )
        expires = payload.get("exp")
        return Token(break_signature(credential, text), None if expires is None else float(expires))


def read_expiry(text: str) -> float | None:
    """Return the expiry of another issuer's token, if it has one; nothing is verified."""
    try:
        expires = jwt.decode(text, options={"verify_signature": False}).get("exp")
    except jwt.PyJWTError:
        return None
    return float(expires) if isinstance(expires, int | float) else None
