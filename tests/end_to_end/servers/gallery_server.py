"""An MCP server on the official SDK whose results have all that frames can have: several blocks, an
image, structured content, ``_meta``, errors. Over stdio, or over HTTP at $PORT.
"""

from __future__ import annotations

import base64
import os

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, TextContent

_DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgSFgAAAFkAQGueDeHAAAAAElFTkSuQmCC"
)
PIXELS = base64.b64encode(_DOT + bytes(range(256)) * 40).decode()
"""A picture of one pixel, with more behind its end: as long as others."""
PARAGRAPHS = [f"Picture {number}:\nit shows the sea, and a ship on it." for number in range(3)]
CANARY = "canary-of-the-server-27182818"
"""What ``_meta`` of a result says under the name of a secret."""
POEM = "\n".join(f"Line {number} of a long poem on the sea" for number in range(200))

server = MCPServer("gallery", log_level="CRITICAL")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def album() -> CallToolResult:
    """Show texts around an image."""
    first, *others = (TextContent(type="text", text=text) for text in PARAGRAPHS)
    image = ImageContent(type="image", data=PIXELS, mime_type="image/png")
    return CallToolResult(content=[first, image, *others])


@server.tool()
def poem() -> str:
    """Recite."""
    return POEM


@server.tool()
def visit() -> CallToolResult:
    """Say something in ``_meta``."""
    told = {"page": 1, "session_token": CANARY}
    return CallToolResult(content=[TextContent(type="text", text="Welcome.")], _meta=told)


@server.tool()
def refuse() -> str:
    """Refuse."""
    raise ToolError("Access denied: requires role 'admin'")


if __name__ == "__main__":
    if "PORT" in os.environ:
        import uvicorn

        uvicorn.run(server.streamable_http_app(), port=int(os.environ["PORT"]), log_level="warning")
    else:
        server.run("stdio")
