"""A server of notes; one process is shared by all users, whom each request names."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("notes", log_level="CRITICAL")
READS = ToolAnnotations(read_only_hint=True)
NOTES = {"n1": {"note": "n1", "title": "Minutes", "text": "The meeting is on Monday."}}
sent: list[str] = []


@server.tool(annotations=READS)
def get_note(note: str) -> dict[str, str]:
    """Get one note."""
    return NOTES[note]


@server.tool()
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    sent.append(f"{to}: {text}")
    return "sent"


@server.tool(annotations=READS)
def list_mails() -> list[str]:
    """List the mails that were sent."""
    return sent


if __name__ == "__main__":
    server.run()
