"""The door of the clinic over HTTP: whose token counts.

Each check of a token is one method; a fault replaces one of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import jwt

LEEWAY_S = 60
"""How far clocks may be apart."""
ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Signatures that need a private key."""
_OF_THE_ISSUER = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti", "sub"})


class Refused(Exception):
    """The token does not count."""


class Door:
    """Verifies bearer tokens; who shows none is nobody."""

    def __init__(self, issuer: str, jwks_url: str, audience: str) -> None:
        self.issuer = issuer
        self.audience = audience
        self.keys = jwt.PyJWKClient(jwks_url, timeout=5, cooldown_duration=0)

    def admit(self, headers: Mapping[str, str], session: str, query: str) -> Mapping[str, Any]:
        """Return the attributes of whoever sends a request.

        Raises:
            Refused: their token does not count.
        """
        token = self.token(headers, query)
        return {} if token is None else self.attributes(token)

    def said(self, why: str, headers: Mapping[str, str]) -> str:
        """Return what is said to somebody whose token does not count."""
        return "invalid_token"

    def token(self, headers: Mapping[str, str], query: str) -> str | None:
        """Return the token of a request."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return token if scheme.lower() == "bearer" else None

    def attributes(self, token: str) -> Mapping[str, Any]:
        """Return what a token says of its bearer.

        Raises:
            Refused: it does not count.
        """
        try:
            claims = self.claims(token)
        except (jwt.PyJWTError, ValueError, KeyError, TypeError) as error:
            raise Refused(str(error)) from error
        self.check_times(claims)
        self.check_audience(claims)
        self.check_issuer(claims)
        return {name: value for name, value in claims.items() if name not in _OF_THE_ISSUER}

    def claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token whose signature is right."""
        header = jwt.get_unverified_header(token)
        return self.signed(token, self.key(token, header), self.algorithms(header))

    def signed(self, token: str, key: Any, algorithms: tuple[str, ...]) -> dict[str, Any]:
        """Return the claims of a token that ``key`` has signed, unchecked."""
        claims: dict[str, Any] = jwt.decode(
            token, key, algorithms=list(algorithms), options=UNCHECKED
        )
        return claims

    def key(self, token: str, header: Mapping[str, Any]) -> Any:
        """Return the issuer's key that the token names."""
        return self.keys.get_signing_key_from_jwt(token).key

    def algorithms(self, header: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the algorithms that count."""
        return ALGORITHMS

    def check_times(self, claims: Mapping[str, Any]) -> None:
        """Refuse what has expired, or is not valid yet, or never expires."""
        self.check_expiry(claims, LEEWAY_S)
        if claims.get("nbf", 0) > time.time() + LEEWAY_S:
            raise Refused("not yet valid")

    def check_expiry(self, claims: Mapping[str, Any], leeway_s: float) -> None:
        """Refuse what expired longer ago than ``leeway_s`` seconds, and what never expires."""
        if not isinstance(claims.get("exp"), int | float):
            raise Refused("no expiry")
        if claims["exp"] < time.time() - leeway_s:
            raise Refused("expired")

    def check_audience(self, claims: Mapping[str, Any]) -> None:
        """Refuse what is meant for others."""
        meant = claims.get("aud")
        if self.audience not in (meant if isinstance(meant, list) else [meant]):
            raise Refused("meant for somebody else")

    def check_issuer(self, claims: Mapping[str, Any]) -> None:
        """Refuse what others issued."""
        if claims.get("iss") != self.issuer:
            raise Refused("of another issuer")


UNCHECKED: Any = {
    f"verify_{claim}": False for claim in ("aud", "iss", "exp", "nbf", "iat", "sub", "jti")
}
"""Options that leave all but the signature to the methods of `Door`."""
UNSIGNED: Any = {**UNCHECKED, "verify_signature": False}
"""Options that leave the signature out as well."""
