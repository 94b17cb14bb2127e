"""A well-behaved server on the official SDK, which remembers who asked it."""

from __future__ import annotations

import os
from typing import Any

from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

KEY = "harness/user_context"
asked: dict[str, Any] = {}


async def remember(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
    asked[ctx.method] = (ctx.meta or {}).get(KEY)
    return await call_next(ctx)


INSTRUCTIONS = "Add before you tell. Never guess a sum."

server = MCPServer(
    "good",
    instructions=None if "NO_INSTRUCTIONS" in os.environ else INSTRUCTIONS,
    middleware=[remember],
    log_level="CRITICAL",
)


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def whoami() -> dict[str, Any]:
    """Tell who asked for the list and who called."""
    return asked


@server.tool()
async def slow(steps: int, ctx: Context[Any, Any]) -> str:
    """Report progress, then answer."""
    for step in range(steps):
        await ctx.report_progress(step, steps, "working")
    return "done"


@server.tool()
def refuse() -> str:
    """Refuse."""
    raise ToolError("Access denied: requires role 'admin'")


@server.tool()
def fall_over() -> str:
    """Fail in an unforeseen way."""
    raise KeyError("secret detail")


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
