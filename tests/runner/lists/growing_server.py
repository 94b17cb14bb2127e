"""A server whose list of tools changes with its calls, in either era, over every transport.

``unlock`` adds the tool ``erase``, ``lock`` takes it away, ``churn`` changes a description each
time; ``BREAKS`` makes the list unreadable once it has changed, ``MUTE`` hides that it can change.
``LISTENS`` names how a subscription fails.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

warnings.simplefilter("ignore")
Context = ServerRequestContext[Any, Any]
bus = InMemorySubscriptionBus()
ANY: Any = {"type": "object", "properties": {"n": {"type": "integer"}}}
state = {"open": False, "churns": 0, "lists": 0}


async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    state["lists"] += 1
    if "BREAKS" in os.environ and state["open"]:
        raise MCPError(-32603, "the list is gone")
    names = ["unlock", "lock", "churn", "lists", *(["erase"] if state["open"] else [])]
    return ListToolsResult(
        tools=[
            Tool(
                name=name,
                description=f"{name} {state['churns']}",
                input_schema=ANY,
                annotations=ToolAnnotations(read_only_hint=name != "erase"),
            )
            for name in names
        ]
    )


async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    before = dict(state)
    if params.name in ("unlock", "lock"):
        state["open"] = params.name == "unlock"
    elif params.name == "churn":
        state["churns"] += 1
    if state != before:
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            await bus.publish(ToolsListChanged())
        else:
            await ctx.session.send_tool_list_changed()
    return CallToolResult(content=[TextContent(text=str(state["lists"]))])


class Growing(Server[Any]):
    """Declares ``listChanged`` to clients with a handshake as well."""

    def create_initialization_options(self, *args: Any, **named: Any) -> Any:
        named["notification_options"] = NotificationOptions(tools_changed=True)
        return super().create_initialization_options(*args, **named)


async def refuse(ctx: Context, params: Any) -> Any:
    """Refuse a subscription, or never acknowledge it."""
    if os.environ["LISTENS"] == "never":
        await anyio.sleep_forever()
    raise MCPError(-32601, "nobody may listen")


mute = "MUTE" in os.environ
listening = refuse if "LISTENS" in os.environ else ListenHandler(bus)
server = (Server[Any] if mute else Growing)(
    "growing",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=None if mute else listening,
)


async def serve() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def build_sse_app() -> Any:
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def connect(request: Any) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            await server.run(streams[0], streams[1], server.create_initialization_options())
        return Response()

    routes = [
        Route("/sse", endpoint=connect, methods=["GET"]),
        Mount("/messages/", app=transport.handle_post_message),
    ]
    return Starlette(routes=routes)


if __name__ == "__main__":
    if "PORT" in os.environ:
        import uvicorn

        sse = os.environ.get("OVER") == "sse"
        app = build_sse_app() if sse else server.streamable_http_app()
        uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
    else:
        anyio.run(serve)
