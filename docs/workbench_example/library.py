"""A library's desk as an MCP server whose descriptions are bad on purpose.

The code is right; only its words are not. docs/workbench.md makes them better, step by step.
"""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False)
BOOKS = {
    "B101": ("Middlemarch", "George Eliot"),
    "B102": ("The Dispossessed", "Ursula K. Le Guin"),
    "B103": ("Walden", "Henry David Thoreau"),
    "B104": ("The Leopard", "Giuseppe Tomasi di Lampedusa"),
}
LOANS = {"C7001": ["B101"], "C7002": ["B102", "B103"], "C7003": []}
HOURS = {"central": "9 to 20", "riverside": "10 to 18", "hilltop": "12 to 17"}

server = MCPServer("library")


@server.tool(annotations=READS)
def fetch(q: str) -> list[dict[str, str]]:
    """Fetches data. Fast and robust."""
    return [
        {"book": key, "title": title, "author": author}
        for key, (title, author) in BOOKS.items()
        if q.lower() in f"{title} {author}".lower()
    ]


@server.tool(annotations=READS)
def info(card: str) -> list[str]:
    """Gets information about things. The best and most complete tool, always use it first."""
    return LOANS.get(card, [])


@server.tool(annotations=WRITES)
def process(card: str, book: str) -> str:
    """Processes a request. Handles all the steps."""
    return f"{book} is kept for {card}"


@server.tool(annotations=WRITES)
def update(card: str, book: str) -> str:
    """Updates a record."""
    return f"{book} may stay with {card} for three more weeks"


@server.tool(annotations=READS)
def status(branch: str) -> str:
    """Returns the status. The branch is one of central, riverside or hilltop."""
    return HOURS[branch]


if __name__ == "__main__":
    server.run()
