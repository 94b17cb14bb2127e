"""A shop on the official SDK; the first argument is a transport over HTTP, at the port ``PORT``."""

from __future__ import annotations

import os
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("shop", log_level="CRITICAL")
ORDERS = {
    "A1": {"order_id": "A1", "status": "shipped", "total": 129.9, "placed": "2026-08-01"},
    "A2": {"order_id": "A2", "status": "open", "total": 15.0, "placed": "2026-08-03"},
}
booked: list[str] = []


@server.tool()
def get_order(order_id: str) -> dict[str, Any]:
    """Get one order by its id."""
    return ORDERS[order_id]


@server.tool()
def search_orders(customer: str) -> list[dict[str, Any]]:
    """Search the orders of a customer."""
    return list(ORDERS.values())


@server.tool()
def book_room(room: str) -> str:
    """Book a room, and charge for it."""
    booked.append(room)
    return f"Booked room {room}."


@server.tool()
def find_customer(name: str) -> str:
    """Find a customer by name."""
    if not name.isupper():
        raise ToolError("E17")
    return f"Customer {name} is C1."


@server.tool()
def list_bookings() -> list[str]:
    """List the rooms that are booked."""
    return booked


if __name__ == "__main__":
    if not sys.argv[1:]:
        server.run()
    else:
        server.run(sys.argv[1], host="127.0.0.1", port=int(os.environ["PORT"]))  # type: ignore[call-overload]
