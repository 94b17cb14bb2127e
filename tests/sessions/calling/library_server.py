"""A server on the official SDK with resources and prompts, over every transport.

``python library_server.py [FAULT]``: its tool withholds an address from all but the administrator.
With the fault ``resource`` or ``prompt`` it stands in one of these, and so it does in those whose
name is not ASCII with ``umlaut``. With ``closed`` no resource can be read, by anybody; with
``strict`` no request but a list is taken, in words that could be about the caller.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH

FAULT = next(iter(sys.argv[1:]), "")
EMAIL = "ines.okafor@example.com"
URIS = ("customer://17", "customer://Müller & Söhne", "=?base64?eA==?=")
PROMPTS = ("greet", "grüße ", " ♥")
LEAKS = {"resource": URIS[0], "prompt": PROMPTS[0], "umlaut": URIS[1]}


def told(name: str) -> str:
    """Return the text of a resource or a prompt."""
    return f"about {name}: {EMAIL if name == LEAKS.get(FAULT) else 'nothing'}"


def customer(meta: dict[str, Any]) -> dict[str, Any]:
    who = next((value for key, value in meta.items() if key.endswith("user_context")), None) or {}
    shown = {"email": EMAIL} if who.get("role") == "admin" else {}
    content = [{"type": "text", "text": "One customer."}]
    return {"content": content, "structuredContent": {"customer_id": "C-17", **shown}}


async def answer(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
    params = dict(ctx.params or {})
    if FAULT == "strict" and ctx.method in ("tools/call", "resources/read", "prompts/get"):
        raise MCPError(HEADER_MISMATCH, "access denied: a header differs from the body")
    if ctx.method == "tools/list":
        hints = {"readOnlyHint": True}
        tool = {"name": "get_customer", "inputSchema": {"type": "object"}, "annotations": hints}
        result: dict[str, Any] = {"tools": [tool]}
    elif ctx.method == "tools/call":
        result = customer(dict(ctx.meta or {}))
    elif ctx.method == "resources/list":
        result = {"resources": [{"uri": uri, "name": "one"} for uri in URIS]}
    elif ctx.method == "resources/read" and FAULT == "closed":
        raise MCPError(-32603, "the shelf is closed")
    elif ctx.method == "resources/read":
        result = {"contents": [{"uri": params["uri"], "text": told(params["uri"])}]}
    elif ctx.method == "prompts/list":
        result = {"prompts": [{"name": name} for name in PROMPTS]}
    elif ctx.method == "prompts/get":
        content = {"type": "text", "text": told(params["name"])}
        result = {"messages": [{"role": "user", "content": content}]}
    else:
        return await call_next(ctx)
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}


server = MCPServer("library", middleware=[answer], log_level="CRITICAL")


def serve_over_http(port: int) -> None:
    """Serve streamable HTTP at ``/mcp`` and its older form at ``/sse``, as one process."""
    import uvicorn

    app = server.streamable_http_app()
    app.router.routes.extend(server.sse_app().routes)
    uvicorn.run(app, port=port, log_level="warning")


if __name__ == "__main__":
    if "PORT" in os.environ:
        serve_over_http(int(os.environ["PORT"]))
    else:
        server.run("stdio")
