"""Limits of a memory. They are small on purpose, so that a model must choose what to keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mcp.server.mcpserver.exceptions import ToolError

from .records import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Bounds of one part of a memory."""

    called: str
    """What models know it as."""
    entries: int
    """How many there may be."""
    characters: int
    """How long each may be."""

    def check_room(self, taken: int) -> None:
        """Let a new entry pass beside ``taken`` others.

        Raises:
            ToolError: the part is full.
        """
        if taken >= self.entries:
            raise ToolError(
                f"{self.called} memory is full: it holds {self.entries} entries; remove or replace "
                "some"
            )

    def check_length(self, text: str) -> None:
        """Let a text pass.

        Raises:
            ToolError: it is too long.
        """
        if len(text) > self.characters:
            raise ToolError(
                f"This text has {len(text):,} characters, and an entry of {self.called} memory "
                f"holds {self.characters:,}; shorten it"
            )


CORE: Final = Size(called="core", entries=7, characters=300)
ARCHIVAL: Final = Size(called="archival", entries=50, characters=2_000)
SUMMARY_CHARACTERS: Final = 10_000
"""The whole of the one text."""

SIZES: Final[dict[Part, Size]] = {"core": CORE, "archival": ARCHIVAL}
