"""A hotel that charges a guest who books."""

from mcp.server.mcpserver import MCPServer

hotel = MCPServer("hotel", log_level="CRITICAL")
charges: list[str] = []


@hotel.tool()
def book_room(guest: str) -> str:
    """Book a room for a guest, and charge for it."""
    charges.append(guest)
    return f"Booked and charged: {guest}."


@hotel.tool()
def list_charges(guest: str) -> list[str]:
    """List what a guest was charged for."""
    return [f"room for {name}" for name in charges if name == guest]


hotel.run()
