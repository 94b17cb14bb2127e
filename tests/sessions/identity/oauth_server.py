"""An MCP server over HTTP behind OAuth, with an authorization server whose person always agrees."""

from __future__ import annotations

import base64
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import anyio
import anyio.lowlevel
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.sessions.http_servers import free_port, wait_for


@dataclass
class Authorization:
    """What the authorization server has given out, and how it behaves."""

    url: str = ""
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    valid: set[str] = field(default_factory=set)
    """Access tokens that the MCP server accepts."""
    renewals: set[str] = field(default_factory=set)
    """Refresh tokens that can be used once."""
    grants: list[str] = field(default_factory=list)
    """The grant type of each token request."""
    shown: list[str] = field(default_factory=list)
    """Every Authorization header that the MCP server got."""
    secret: str = "the-secret-of-the-client"
    token_manner: str = "good"
    """``hang``, ``endless``, ``packed`` or ``no JSON``: how the token endpoint answers."""

    def revoke_access(self) -> None:
        """Let every access token be refused from now on."""
        self.valid.clear()


def _build_answer(state: Authorization, path: str, query: Any, form: Any, headers: Any) -> Response:
    match path:
        case "/.well-known/oauth-protected-resource/mcp":
            servers = [state.url]
            return JSONResponse({"resource": f"{state.url}/mcp", "authorization_servers": servers})
        case "/.well-known/oauth-authorization-server":
            ends = ("authorize", "token", "register")
            names = ("authorization_endpoint", "token_endpoint", "registration_endpoint")
            return JSONResponse(
                {
                    "issuer": state.url,
                    **{name: f"{state.url}/{end}" for name, end in zip(names, ends, strict=True)},
                    "response_types_supported": ["code"],
                    "grant_types_supported": ["authorization_code", "refresh_token"],
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                }
            )
        case "/authorize":
            answer = {"code": secrets.token_hex(8), "state": query["state"]}
            return RedirectResponse(f"{query['redirect_uri']}?{urlencode(answer)}", 302)
        case "/token":
            return _issue(state, form, headers)
    return JSONResponse({"error": "not_found"}, 404)


def _issue(state: Authorization, form: Any, headers: Any) -> Response:
    state.grants.append(form["grant_type"])
    if form["grant_type"] == "refresh_token" and form["refresh_token"] not in state.renewals:
        return JSONResponse({"error": "invalid_grant"}, 400)
    if form["grant_type"] == "client_credentials":
        login = base64.b64decode(headers["authorization"].removeprefix("Basic ")).decode()
        if login.partition(":")[2] != state.secret:
            return JSONResponse({"error": "invalid_client"}, 401)
    access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
    state.valid.add(access)
    state.renewals = {refresh}
    return JSONResponse(
        {"access_token": access, "token_type": "Bearer", "refresh_token": refresh}
        | {"expires_in": 3600}
    )


class Gate:
    """The authorization server, and the MCP server for those with a token."""

    def __init__(self, app: ASGIApp, state: Authorization) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        if scope["path"].rstrip("/") != "/mcp":
            await (await self._answer(request))(scope, receive, send)
            return
        header = request.headers.get("authorization", "")
        self._state.shown.append(header)
        if header.removeprefix("Bearer ") in self._state.valid:
            await self._app(scope, receive, send)
            return
        place = f"{self._state.url}/.well-known/oauth-protected-resource/mcp"
        wanted = {"www-authenticate": f'Bearer resource_metadata="{place}"'}
        await JSONResponse({"error": "no token"}, 401, wanted)(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path == "/register":
            told = await request.json()
            client = {**told, "client_id": f"client-{len(self._state.clients)}"}
            self._state.clients[client["client_id"]] = client
            return JSONResponse(client, 201)
        if request.url.path == "/token" and self._state.token_manner != "good":
            return _misbehave(self._state.token_manner)
        form = await request.form() if request.method == "POST" else {}
        query = request.query_params
        return _build_answer(self._state, request.url.path, query, form, request.headers)


def _misbehave(manner: str) -> Response:
    async def hang() -> Any:
        yield b"{"
        await anyio.sleep_forever()

    async def flood() -> Any:
        while True:
            yield b"[" * 65_536
            await anyio.lowlevel.checkpoint()  # or nobody would notice that the client has gone

    match manner:
        case "hang":
            return StreamingResponse(hang(), media_type="application/json")
        case "endless":
            return StreamingResponse(flood(), media_type="application/json")
        case "packed":
            return Response(b"\x1f\x8b", headers={"content-encoding": "gzip"})
    return Response(b"<p>Sorry", media_type="text/html")


async def list_tools(_: ServerRequestContext[Any, Any], __: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name="echo", input_schema={"type": "object"})])


async def call_tool(
    _: ServerRequestContext[Any, Any], params: CallToolRequestParams
) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="hello")])


@contextmanager
def serving() -> Iterator[Authorization]:
    """Serve on loopback within the block."""
    port = free_port()
    state = Authorization(url=f"http://127.0.0.1:{port}")
    app = Server("behind-oauth", on_list_tools=list_tools, on_call_tool=call_tool)
    gate = Gate(app.streamable_http_app(), state)
    server = uvicorn.Server(
        uvicorn.Config(gate, port=port, log_level="critical", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        wait_for(port)
        yield state
    finally:
        server.should_exit = True
        thread.join(30)
