"""How a call crossed an MCP session: its JSON-RPC messages, and what carried them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from harness.types.basics import JsonObject
from harness.types.shared_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """A JSON-RPC message of a call, without what the call's record holds anyway."""

    body: JsonObject
    """The message; ``null`` stands where something was left out."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Where that is, as a JSON Pointer → the field of `ToolCall` that has it: ``arguments``,
    ``structured``, ``text``, or some of its lines, ``text 2-5 of 9``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How a call crossed the MCP session, as far as it is known; ``None`` is unknown."""

    id: str | None = None
    """The id of its JSON-RPC request, as text."""
    session: str | None = None
    """The server's id of the MCP session, if it gave one; only recorded while a run is traced,
    since it lets in whoever has it."""
    protocol: str | None = None
    """The protocol revision that was agreed on."""
    transport: str | None = None
    """What carried it: ``pipe`` or ``tcp``."""
    request: WireMessage | None = None
    """The JSON-RPC request."""
    response: WireMessage | None = None
    """What answered it; ``None`` if no JSON-RPC message did."""
