"""Key pairs for tokens, one sort for each algorithm of the issuer (RFC 7518, RFC 8037).

Importing this module loads PyJWT and cryptography: do it when a token is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from harness.types import TokenAlgorithm

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
        ed25519.Ed25519PrivateKey.generate,
        lambda key: OKPAlgorithm.to_jwk(key, as_dict=True),
        None,
    ),
}


def new_key(algorithm: TokenAlgorithm) -> PrivateKey:
    """Return a new private key for ``algorithm``; slow for RS256."""
    return _SORTS[algorithm].make()


def public_jwk(algorithm: TokenAlgorithm, key: PublicKey, key_id: str) -> dict[str, Any]:
    """Return ``key`` as a JSON Web Key for signatures, under the id ``key_id``."""
    found = _SORTS[algorithm].to_jwk(key)
    return {**found, "kid": key_id, "use": "sig", "alg": algorithm}


def certificate_digest(algorithm: TokenAlgorithm) -> Any:
    """Return the hash with which a certificate is signed by a key for ``algorithm``."""
    return _SORTS[algorithm].digest
