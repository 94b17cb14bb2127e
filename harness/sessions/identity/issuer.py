"""The token issuer of a run: the part of an authorization server that verifiers need, on loopback.

It serves three documents and no login page: harness itself signs the tokens that it needs.

| path                                      | document                                   |
|-------------------------------------------|--------------------------------------------|
| ``/.well-known/openid-configuration``     | discovery, as OpenID Connect has it        |
| ``/.well-known/oauth-authorization-server`` | the same, as OAuth 2.0 has it (RFC 8414)   |
| ``/jwks.json``                            | the public key (RFC 7517)                  |

It runs in a thread of its own, so that a server that checks a token never waits for the event loop.
"""

from __future__ import annotations

import errno
import json
import socketserver
import threading
from collections.abc import Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import anyio.to_thread

from harness.base import ServerError
from harness.sessions.identity.tokens import SigningKey, Token
from harness.types import Credential, JsonObject, TokenAlgorithm

HOST = "127.0.0.1"
"""Loopback only, because only servers on this machine need the key."""

REQUEST_S = 5.0
"""Seconds that a client of the issuer has for its request."""

END_S = 2.0
"""Seconds to wait for the end of the thread; it needs milliseconds."""

# `close` waits for up to this long, until the thread looks whether it should end.
_POLL_S = 0.05
_POINTING: frozenset[Credential] = frozenset({"key_url", "certificate_url"})
"""Flawed tokens that name the URL of their key."""
_JWKS = "/jwks.json"


class Issuer:
    """Signs tokens and serves the public key until `close`."""

    def __init__(self, port: int = 0, algorithm: TokenAlgorithm = "RS256") -> None:
        """Make a key and listen on ``port`` (0: any free one). Slow: call it in a thread.

        Raises:
            ServerError: the port is taken.
        """
        try:
            self._http = _DocumentServer((HOST, port), _Handler)
        except OSError as error:
            is_taken = error.errno == errno.EADDRINUSE
            why = "is taken by another process" if is_taken else f"cannot be used: {error.strerror}"
            message = f"the issuer of tokens could not start: port {port} of {HOST} {why}"
            raise ServerError(message) from error
        self.url = f"http://{HOST}:{self._http.server_address[1]}"
        self.jwks_url = f"{self.url}{_JWKS}"
        self._key = SigningKey(algorithm)
        self._forger = self._key.build_forger(self.url)
        metadata = _build_metadata(self.url, self.jwks_url, algorithm)
        self._http.documents = {
            "/.well-known/openid-configuration": metadata,
            "/.well-known/oauth-authorization-server": metadata,
            _JWKS: self._key.build_jwks(),
        }
        # A daemon, so that a run that breaks off need not wait for it.
        serve = partial(self._http.serve_forever, _POLL_S)
        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()

    def issue_token(
        self,
        claims: JsonObject,
        *,
        audience: str,
        credential: Credential,
        expired_s: float | None = None,
    ) -> Token:
        """Return a new token (see `SigningKey.sign`)."""
        if credential in _POINTING:
            # A new mapping, because threads that answer requests read the old one. Only now,
            # because the forger's key takes time to make.
            self._http.documents = {**self._http.documents, **self._forger.documents}
        return self._key.sign(
            claims,
            issuer=self.url,
            audience=audience,
            credential=credential,
            forger=self._forger,
            expired_s=expired_s,
        )

    def close(self) -> None:
        """Stop listening; bounded by `END_S`."""
        self._http.shutdown()
        self._thread.join(END_S)
        self._http.server_close()


class Issuers:
    """The issuers of a session pool: one for each port and algorithm, started on first use."""

    def __init__(self) -> None:
        """Prepare; no issuer is started yet."""
        self._lock = anyio.Lock()
        self._issuers: dict[tuple[int, TokenAlgorithm], Issuer] = {}

    async def get_issuer(self, port: int | None, algorithm: TokenAlgorithm = "RS256") -> Issuer:
        """Return the issuer on ``port`` that signs by ``algorithm``; ``None`` is any free port.

        Raises:
            ServerError: the port is taken.
        """
        async with self._lock:
            key = port or 0, algorithm
            issuer = self._issuers.get(key)
            if issuer is None:
                issuer = self._issuers[key] = await anyio.to_thread.run_sync(Issuer, *key)
            return issuer

    async def aclose(self) -> None:
        """End them all; cannot be cancelled, and is bounded."""
        with anyio.CancelScope(shield=True):
            for issuer in self._issuers.values():
                await anyio.to_thread.run_sync(issuer.close)
            self._issuers.clear()


class _DocumentServer(ThreadingHTTPServer):
    """Serves ``documents``, path by path."""

    daemon_threads = True
    documents: Mapping[str, JsonObject | str]

    def server_bind(self) -> None:
        """Bind without a DNS lookup of this machine's name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: an early disconnect is not an error, and stderr is the user's terminal."""


class _Handler(BaseHTTPRequestHandler):
    """Answers GET with a document."""

    server: _DocumentServer
    timeout = REQUEST_S

    def do_GET(self) -> None:
        """Answer one request."""
        document = self.server.documents.get(self.path.partition("?")[0])
        found = {"error": "not_found"} if document is None else document
        body = (found if isinstance(found, str) else json.dumps(found)).encode()
        kind = "application/x-pem-file" if isinstance(found, str) else "application/json"
        self.send_response(404 if document is None else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # named by the base class
        """Print nothing: stderr is the user's terminal."""


def _build_metadata(issuer: str, jwks_url: str, algorithm: TokenAlgorithm) -> dict[str, Any]:
    return {
        "issuer": issuer,
        "jwks_uri": jwks_url,
        # Discovery has to name both endpoints, though nothing answers there.
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [algorithm],
        "code_challenge_methods_supported": ["S256"],
    }
