"""An MCP server with a verifier as server authors write it.

The SDK's own gate, and PyJWT's client for keys.

It knows nothing of harness but the variables that a server is started with. It has a bad habit: it
writes every Authorization header to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import anyio.to_thread
import jwt
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from pydantic import AnyHttpUrl
from starlette.types import ASGIApp, Receive, Scope, Send

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--issuer", default=os.environ.get("HARNESS_ISSUER", "http://127.0.0.1:1"))
parser.add_argument(
    "--jwks-url", default=os.environ.get("HARNESS_JWKS_URL", "http://127.0.0.1:1/jwks")
)
parser.add_argument("--audience", default=os.environ.get("HARNESS_AUDIENCE"))
parser.add_argument("--scope")
parser.add_argument(
    "--opaque",
    default=os.environ.get("OPAQUE"),
    help="accept this one token, as a server that asks its issuer would",
)
parser.add_argument("marker", nargs="?")
options = parser.parse_args()
keys = jwt.PyJWKClient(options.jwks_url)


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        if options.opaque is not None:
            known = token == options.opaque
            return (
                AccessToken(token=token, client_id="app", scopes=[], claims={"opaque": True})
                if known
                else None
            )
        try:
            key = await anyio.to_thread.run_sync(keys.get_signing_key_from_jwt, token)
            claims = jwt.decode(
                token, key, algorithms=["RS256"], audience=options.audience, issuer=options.issuer
            )
        except jwt.PyJWTError as error:
            sys.stderr.write(f"refused: {error}\n")
            return None
        return AccessToken(
            token=token,
            client_id=claims["sub"],
            subject=claims["sub"],
            scopes=claims.get("scope", "").split(),
            expires_at=claims["exp"],
            claims=claims,
        )


mcp = MCPServer(
    "verified",
    token_verifier=Verifier(),
    auth=AuthSettings(
        issuer_url=options.issuer,
        resource_server_url=AnyHttpUrl(options.audience or f"http://127.0.0.1:{options.port}/mcp"),
        required_scopes=[options.scope] if options.scope else None,
        validate_token_resource=False,
    ),
)


@mcp.tool(structured_output=True)
async def whoami(ctx: Context) -> dict[str, Any]:
    """Say what the server knows of its caller."""
    token = get_access_token()
    assert token is not None
    shown = (ctx.headers or {}).get("authorization")
    meta = dict(ctx.request_context.meta or {})
    return {"claims": token.claims, "meta": meta, "pid": os.getpid(), "authorization": shown}


@mcp.tool()
async def crash() -> str:
    """End the server."""
    os._exit(3)


def talkative(app: ASGIApp) -> ASGIApp:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        header = dict(scope.get("headers") or ()).get(b"authorization", b"").decode()
        if header:
            sys.stderr.write(f"DEBUG headers: {{'authorization': '{header}'}}\n")
        await app(scope, receive, send)

    return tell


uvicorn.run(
    talkative(mcp.streamable_http_app()),
    port=options.port,
    log_level="warning",
    timeout_graceful_shutdown=1,
)
