"""The firm's verifier of bearer tokens: signature, issuer, audience and times all count."""

from __future__ import annotations

from typing import Any, Final

import anyio.to_thread
import jwt
from mcp.server.auth.provider import AccessToken

REQUIRED: Final = ("iss", "aud", "exp", "sub")


class Verifier:
    """The SDK's ``TokenVerifier``, for the tokens of one issuer meant for this server."""

    def __init__(self, issuer: str, jwks_url: str, audience: str) -> None:
        """Fetch no key yet."""
        self.issuer, self.audience = issuer, audience
        self._keys = jwt.PyJWKClient(jwks_url, timeout=5, cooldown_duration=0)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what a token says, or nothing if it does not count."""
        try:
            claims = await anyio.to_thread.run_sync(self.claims, token)
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["sub"],
            subject=claims["sub"],
            scopes=[],
            expires_at=int(claims["exp"]),
            claims=claims,
        )

    def claims(self, token: str) -> dict[str, Any]:
        """Return the claims of a token.

        Raises:
            jwt.PyJWTError: it is not valid here.
        """
        return self.decoded(token)

    def decoded(self, token: str, **instead: Any) -> dict[str, Any]:
        """Return the claims of a token, judged by PyJWT with other settings ``instead``."""
        settings: dict[str, Any] = {
            "issuer": self.issuer,
            "audience": self.audience,
            "options": {"require": list(REQUIRED)},
            **instead,
        }
        key = self._keys.get_signing_key_from_jwt(token)
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=["RS256"], leeway=5, **settings)
        return claims
