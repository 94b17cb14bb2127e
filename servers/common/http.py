"""A server over HTTP: its own app, behind the check of the caller's token."""

from __future__ import annotations

import argparse
import os

import uvicorn
from pydantic import AnyHttpUrl

from .errors import CannotStart
from .governed import GovernedServer
from .identity import identify_by_claims
from .tokens import Trust, claims_of, gated

PATHS = {"http": "/mcp", "sse": "/sse"}
"""Where clients find the server, by transport."""

GRACE_S = 1
"""How long open streams may go on after the signal to end."""


def trust_of(options: argparse.Namespace) -> Trust | None:
    """Return whose tokens count by the command line, else by the environment.

    ``None`` if neither says.

    Raises:
        CannotStart: what should be a URL is none.
    """
    issuer = options.issuer or os.environ.get("HARNESS_ISSUER")
    jwks_url = options.jwks_url or os.environ.get("HARNESS_JWKS_URL")
    host = f"[{options.host}]" if ":" in options.host else options.host
    own_url = f"http://{host}:{options.port}{PATHS[options.transport]}"
    audience = options.audience or os.environ.get("HARNESS_AUDIENCE") or own_url
    if not (issuer and jwks_url):
        return None
    for name, url in (("issuer", issuer), ("jwks-url", jwks_url), ("audience", audience)):
        _check_url(name, url)
    return Trust(issuer=issuer, jwks_url=jwks_url, audience=audience)


def _check_url(name: str, url: str) -> None:
    try:
        AnyHttpUrl(url)
    except ValueError as error:
        raise CannotStart(f"the {name} is no URL of http or https: {url[:200]!r}") from error


def serve_http(server: GovernedServer, trust: Trust | None, options: argparse.Namespace) -> None:
    """Serve until a signal comes: who asks is what the token says, whatever ``_meta`` claims."""
    server.believe_only(lambda request: identify_by_claims(claims_of(request)))
    if options.transport == "sse":
        app = server.sse_app(host=options.host)
    else:
        app = server.streamable_http_app(host=options.host)
    door = gated(app, trust, allow_anonymous=options.allow_anonymous)
    uvicorn.run(
        door,
        host=options.host,
        port=options.port,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_S,
    )
