"""An MCP server over stdio that answers with what it is given, in the form that the tool names."""

from __future__ import annotations

import base64
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

TOOLS = ("mirror", "say", "blocks", "image", "refuse", "fail", "nothing")
Context = ServerRequestContext[Any, Any]


async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[Tool(name=name, input_schema={"type": "object"}) for name in TOOLS]
    )


async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    arguments = params.arguments or {}
    words = str(arguments.get("text", ""))
    text = TextContent(type="text", text=words)
    match params.name:
        case "mirror":
            return CallToolResult(content=[text], structured_content=arguments)
        case "say":
            return CallToolResult(content=[text])
        case "blocks":
            return CallToolResult(content=[text] * int(arguments["count"]))
        case "image":
            pixels = base64.b64encode(bytes(256) * int(arguments["rows"])).decode()
            return CallToolResult(
                content=[ImageContent(type="image", data=pixels, mime_type="image/png")]
            )
        case "refuse":
            return CallToolResult(content=[text], is_error=True)
        case "nothing":
            return CallToolResult(content=[])
        case _:
            raise MCPError(-32602, f"no such tool: {words}", {"given": arguments})


async def main() -> None:
    server = Server("mirror", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
