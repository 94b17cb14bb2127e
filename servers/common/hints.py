"""The protocol's hints on what a tool does, for clients that decide before they call it."""

from __future__ import annotations

from typing import Final

from mcp_types import ToolAnnotations

READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""The tool only looks; called again it says the same."""
ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
"""The tool adds something; called again it adds one more."""
OVERWRITES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
"""The tool replaces or deletes what was there; called again it changes nothing more."""
CHANGES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)
"""The tool replaces or deletes what was there; called again it does more, or refuses."""
