"""What the server offers beside its tools: the handbook, and a prompt that reviews leave by it."""

from __future__ import annotations

from typing import Final

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import EmbeddedResource, TextContent, TextResourceContents

HANDBOOK_URI: Final = "hr://handbook"

HANDBOOK: Final = """\
Leave

Everybody has at least 25 days of vacation a year; directors and executives have 30. Up to 5 days
that are left at the end of a year may be taken until March 31 of the next one. Vacation of more
than 10 working days is asked for two months ahead. Days of illness are no vacation.
"""
"""For everybody, whoever asks."""


def add_handbook(server: MCPServer) -> None:
    """Offer the handbook and the prompt on ``server``."""

    @server.resource(
        HANDBOOK_URI,
        name="handbook",
        title="Employee handbook",
        description="The company's rules for leave.",
        mime_type="text/plain",
    )
    def read_handbook() -> str:
        return HANDBOOK

    @server.prompt(
        "review_leave",
        title="Review leave",
        description="Review the vacation of an employee by the handbook.",
    )
    def review_leave(employee_id: str) -> list[UserMessage]:
        page = TextResourceContents(uri=HANDBOOK_URI, mime_type="text/plain", text=HANDBOOK)
        question = (
            f"How many days of vacation does {employee_id} have left this year? Then say what the "
            "handbook rules for days that are not taken."
        )
        return [
            UserMessage(content=EmbeddedResource(type="resource", resource=page)),
            UserMessage(content=TextContent(type="text", text=question)),
        ]
