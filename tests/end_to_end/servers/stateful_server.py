"""An MCP server with a state: orders in a SQLite file, or in memory.

On the official SDK, as authors write one.

``python stateful_server.py [FILE]``
"""

from __future__ import annotations

import json
import sqlite3
import sys

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

DATABASE = sqlite3.connect(
    sys.argv[1] if len(sys.argv) > 1 else ":memory:", isolation_level=None, check_same_thread=False
)
server = MCPServer("orders")


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True))
def reset_orders() -> str:
    """Put back the orders as they were."""
    DATABASE.executescript(
        "DROP TABLE IF EXISTS orders; CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT);"
        "INSERT INTO orders VALUES (7, 'open'), (8, 'open');"
    )
    return "reset"


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True))
def cancel_order(id: int) -> str:  # noqa: A002 - the tool's own word
    """Cancel an order."""
    DATABASE.execute("UPDATE orders SET status = status || '+cancelled' WHERE id = ?", (id,))
    return "cancelled"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def get_order(id: int) -> dict[str, str]:  # noqa: A002 - the tool's own word
    """Return the status of an order."""
    return {
        "status": DATABASE.execute("SELECT status FROM orders WHERE id = ?", (id,)).fetchone()[0]
    }


@server.resource("db://orders")
def orders() -> str:
    """Return every order."""
    return json.dumps(
        dict(DATABASE.execute("SELECT id, status FROM orders ORDER BY id").fetchall())
    )


if __name__ == "__main__":
    reset_orders()
    server.run()
