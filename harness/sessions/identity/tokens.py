"""Bearer tokens of harness's own issuer: JSON Web Tokens, signed by a key for one run.

Importing this module loads PyJWT and cryptography: do it when a token is needed.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jwt

from harness.sessions.identity.claims import AGAIN, IN_HEADER
from harness.sessions.identity.flaws import (
    LIFETIME_S,
    Forger,
    apply_claims_flaw,
    break_signature,
)
from harness.sessions.identity.keys import new_key, public_jwk
from harness.types import Credential, JsonObject, TokenAlgorithm


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
        `harness.sessions.identity.flaws.apply_claims_flaw`.
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
