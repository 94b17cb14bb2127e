"""The firm on real HTTP with an issuer of its own, for exploits by tokens."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx2
import jwt
import uvicorn
from anyio import to_thread
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp

from tests.proofs.unseen.chambers import Chambers
from tests.proofs.unseen.server import build

_CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "list_matters", "arguments": {"limit": 50}},
}
_OPEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "exploit", "version": "1"},
    },
}


async def by_token(chambers: Chambers, flaw: str, user: Mapping[str, Any]) -> str:
    """Return what a list of matters says to a token with a flaw, or why it is refused."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    with _issuer(key) as issuer, _bound() as (bound, url):
        verifier = chambers.verifier(issuer, f"{issuer}/jwks.json", url)
        app = chambers.door(build(chambers, verifier).streamable_http_app())
        claims = {**user, "sub": user["user"], "iss": issuer, "aud": url}
        if flaw == "wrong_audience":
            claims["aud"] = "https://another.example"
        if flaw == "longer_issuer":
            claims["iss"] = f"{issuer}.example"
        claims["exp"] = int(time.time()) + 300
        token = jwt.encode(claims, key, "RS256", headers={"kid": "one"})
        with _served(app, bound):
            if flaw == "none in session":
                return await to_thread.run_sync(_in_session, url, token)
            return await _called(url, token)


async def _called(url: str, token: str) -> str:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        try:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                return str(await client.call_tool("list_matters", {"limit": 50}))
        except (MCPError, httpx2.HTTPError, ExceptionGroup) as error:
            return f"refused: {type(error).__name__}"


def _in_session(url: str, token: str) -> str:
    headers = {"Accept": "application/json, text/event-stream"}
    with httpx2.Client(headers=headers, timeout=10) as http:
        opened = http.post(url, json=_OPEN, headers={"Authorization": f"Bearer {token}"})
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        http.post(url, json=ready, headers={**session, "Authorization": f"Bearer {token}"})
        return http.post(url, json=_CALL, headers=session).text


@contextmanager
def _bound() -> Iterator[tuple[socket.socket, str]]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound, f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"


@contextmanager
def _served(app: ASGIApp, bound: socket.socket) -> Iterator[None]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def _issuer(key: rsa.RSAPrivateKey) -> Iterator[str]:
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    body = json.dumps({"keys": [{**public, "kid": "one", "use": "sig"}]}).encode()

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Keys)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
