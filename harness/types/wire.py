"""How a tool call crossed the MCP session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How a call crossed the MCP session, as far as it is known; ``None`` is unknown."""

    id: str | None = None
    """The id of its JSON-RPC request, as text."""
    session: str | None = None
    """The server's id of the MCP session, if it gave one."""
    protocol: str | None = None
    """The protocol revision that was agreed on."""
    transport: str | None = None
    """What carried it: ``pipe`` or ``tcp``."""
