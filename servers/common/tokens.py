"""The caller over HTTP: only the claims of a verified bearer token.

A token is valid if a key of the issuer's JWKS signed it, its ``iss`` and ``aud`` are the expected
ones, and it has not expired. The SDK answers any other token with 401. The claims of a valid token,
except those of the issuer, are the attributes of the user.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio.to_thread
import jwt
from mcp.server.auth.middleware.bearer_auth import (
    AuthenticatedUser,
    BearerAuthBackend,
    RequireAuthMiddleware,
)
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Mount
from starlette.types import ASGIApp

ALGORITHMS: Final = ("RS256", "ES256")
"""Only signatures that need a private key: a public key must never be good for signing."""

LEEWAY_S: Final = 5
"""How far the clocks of issuer and server may be apart."""

FETCH_S: Final = 5.0
"""How long the issuer may take to send its keys."""

ISSUERS_CLAIMS: Final = frozenset({"iss", "aud", "exp", "nbf", "iat", "jti"})
"""What a token says of itself, and not of the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whose tokens count, and for whom they have to be meant."""

    issuer: str
    """The claim ``iss``."""
    jwks_url: str
    """Where the issuer's keys are."""
    audience: str
    """The claim ``aud``; the URL of this server as its clients know it."""


class TokenVerifier:
    """Verifies tokens by a `Trust`; the SDK's ``TokenVerifier``."""

    def __init__(self, trust: Trust) -> None:
        """Fetch no key yet: the issuer may come up later than this server."""
        self._trust = trust
        self._keys = jwt.PyJWKClient(trust.jwks_url, timeout=FETCH_S, cooldown_duration=0)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what ``token`` says, or ``None`` when it does not count."""
        try:
            claims = await anyio.to_thread.run_sync(self._claims, token)
        except jwt.PyJWKClientConnectionError as error:
            sys.stderr.write(f"the keys of the issuer could not be fetched: {error}\n")
            return None
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

    def _claims(self, token: str) -> dict[str, Any]:
        key = self._keys.get_signing_key_from_jwt(token)
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            issuer=self._trust.issuer,
            audience=self._trust.audience,
            leeway=LEEWAY_S,
            options={"require": ["iss", "aud", "exp", "sub"]},
        )
        return claims


class Gate(BearerAuthBackend):
    """Asks who comes; where it is allowed, lets those in as nobody who show no token at all."""

    def __init__(self, trust: Trust | None, *, allow_anonymous: bool) -> None:
        """Believe the tokens of ``trust``; without it none."""
        super().__init__(TokenVerifier(trust) if trust else _NoTokens())
        self._allow_anonymous = allow_anonymous

    async def authenticate(
        self, conn: HTTPConnection
    ) -> tuple[AuthCredentials, AuthenticatedUser] | None:
        """Return who comes, or ``None`` for 401.

        A token that does not count never makes anybody anonymous.
        """
        if self._allow_anonymous and "authorization" not in conn.headers:
            nobody = AccessToken(token="", client_id="anonymous", scopes=[], claims={})
            return AuthCredentials([]), AuthenticatedUser(nobody)
        found: tuple[AuthCredentials, AuthenticatedUser] | None = await super().authenticate(conn)
        return found


class _NoTokens:
    """Believes no token."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return nothing."""
        return None


def gated(app: Starlette, trust: Trust | None, *, allow_anonymous: bool) -> ASGIApp:
    """Return ``app`` behind a `Gate`.

    Metadata tells clients whose tokens it accepts (RFC 9728).
    """
    metadata_url, metadata = None, []
    if trust is not None:
        resource = AnyHttpUrl(trust.audience)
        metadata_url = build_resource_metadata_url(resource)
        metadata = create_protected_resource_routes(resource, [AnyHttpUrl(trust.issuer)])
    door = RequireAuthMiddleware(app, [], metadata_url)
    inner = AuthenticationMiddleware(door, backend=Gate(trust, allow_anonymous=allow_anonymous))
    return Starlette(
        routes=[*metadata, Mount("/", app=inner)], lifespan=app.router.lifespan_context
    )


def claims_of(request: Any) -> Mapping[str, Any]:
    """Return what the verified token of an HTTP request says of its user.

    Nothing where there was none.
    """
    user = request.scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return {}
    claims = user.access_token.claims or {}
    return {name: value for name, value in claims.items() if name not in ISSUERS_CLAIMS}
