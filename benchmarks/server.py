"""The MCP server of both sides: one tool, on the official SDK, with answers of a chosen length.

``python server.py [BYTES]``
"""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer

LENGTH = int(sys.argv[1]) if len(sys.argv) > 1 else 0
SENTENCE = "The customer ordered twice and returned nothing. "

server = MCPServer("records", log_level="WARNING")


@server.tool()
def get_record(number: int) -> str:
    """Return the record of a customer by number."""
    return f"Record {number}. " + (SENTENCE * (LENGTH // len(SENTENCE) + 1))[:LENGTH]


if __name__ == "__main__":
    server.run("stdio")
