"""A web server that reads its caller from the parameters of the URL, on the official SDK.

``python query_server.py PORT http|sse [none|header|cookie]``: with a word, it trusts that instead.

It trusts whoever sets its URL, as a server behind a gateway does. An administrator sees what people
earn, a clerk does not, and anybody else sees nothing. It writes each URL to stderr.
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from starlette.types import ASGIApp, Receive, Scope, Send

PORT, KIND, FAULT = int(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "none"
PEOPLE = {"P-1007": {"name": "Ada Quist", "salary": 64512}}

mcp = MCPServer("people")


def role_of(ctx: Context) -> str | None:
    request: Any = ctx.request_context.request
    assert request is not None
    others = {"header": request.headers.get("x-role"), "cookie": request.cookies.get("role")}
    role: str | None = others.get(FAULT) or request.query_params.get("role")
    return role


@mcp.tool(structured_output=True)
async def get_person(person_id: str, ctx: Context) -> dict[str, Any]:
    """Read the record of a person by id."""
    role = role_of(ctx)
    if role not in ("admin", "clerk"):
        raise ToolError("Permission denied: sign in first")
    if person_id not in PEOPLE:
        raise ToolError("There is no such person")
    person = PEOPLE[person_id]
    return person if role == "admin" else {"name": person["name"]}


@mcp.tool(structured_output=True)
async def read_address(ctx: Context) -> dict[str, Any]:
    """Read the parameters of the URL that this request came to."""
    request: Any = ctx.request_context.request
    return {"parameters": list(request.query_params.multi_items())}


def talkative(app: ASGIApp) -> ASGIApp:
    async def tell(scope: Scope, receive: Receive, send: Send) -> None:
        sys.stderr.write(f"{scope.get('path')}?{scope.get('query_string', b'').decode()}\n")
        await app(scope, receive, send)

    return tell


app = mcp.sse_app() if KIND == "sse" else mcp.streamable_http_app()
uvicorn.run(talkative(app), port=PORT, log_level="warning", timeout_graceful_shutdown=1)
