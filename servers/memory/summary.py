"""The summary store: one text that the model keeps short enough by rewriting it."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from ..common.hints import ADDS, OVERWRITES, READS
from ..common.toolkit import make_tool
from . import results as r
from .records import Part, Records
from .sizes import SUMMARY_CHARACTERS
from .tooling import CLEARS, current_memory

_PART: Final[Part] = "summary"
_KEY: Final = ""

Addition: TypeAlias = Annotated[
    str, Field(min_length=1, description="What to add, with the space before it if needed.")
]
Whole: TypeAlias = Annotated[str, Field(description="The whole of the new text.")]
Old: TypeAlias = Annotated[
    str, Field(min_length=1, description="A passage of the memory, exactly as it stands there.")
]
New: TypeAlias = Annotated[str, Field(description="What to put in its place.")]


def summary_tools(records: Records) -> list[Tool]:
    """Return the tools of this store."""
    tools = _Summary(records)
    return [
        make_tool(tools.memory_append, "Append to memory", ADDS),
        make_tool(tools.memory_update, "Rewrite memory", OVERWRITES),
        make_tool(tools.memory_replace, "Replace in memory", OVERWRITES),
        make_tool(tools.memory_clear, "Clear memory", CLEARS),
        make_tool(tools.memory_retrieve, "Read memory", READS),
    ]


class _Summary:
    """One text for each user; the public methods are the tools."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def memory_append(self, text: Addition) -> r.Status:
        """Add a text to the end of the memory,

        which lasts over all conversations and is read as a whole.
        """
        self._write(self._text() + text)
        return r.Status(status="Memory appended.")

    async def memory_update(self, text: Whole) -> r.Status:
        """Put a new text in the place of the whole memory:

        use it to shorten what is there when it gets long.
        """
        self._write(text)
        return r.Status(status="Memory updated.")

    async def memory_replace(self, old_text: Old, new_text: New) -> r.Status:
        """Put other words in the place of a passage of the memory, wherever it stands."""
        text = self._text()
        if old_text not in text:
            raise ToolError("The memory has no such passage; memory_retrieve shows what it has")
        self._write(text.replace(old_text, new_text))
        return r.Status(status="Memory updated.")

    async def memory_clear(self) -> r.Status:
        """Forget everything, including what earlier conversations stored. It cannot be undone."""
        self._records.clear(current_memory(), _PART)
        return r.Status(status="Memory cleared.")

    async def memory_retrieve(self) -> r.Content:
        """Read the whole memory: everything that earlier conversations stored."""
        text = self._text()
        if not text:
            raise ToolError("The memory is empty")
        return r.Content(memory_content=text)

    def _text(self) -> str:
        return self._records.text(current_memory(), _PART, _KEY) or ""

    def _write(self, text: str) -> None:
        if len(text) > SUMMARY_CHARACTERS:
            raise ToolError(
                f"The memory would have {len(text):,} characters, and it holds "
                f"{SUMMARY_CHARACTERS:,}; shorten it with memory_update first"
            )
        self._records.put(current_memory(), _PART, _KEY, text)
