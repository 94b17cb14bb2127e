"""The vector store: entries are numbered, and found by similarity."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from ..common.hints import ADDS, OVERWRITES, READS
from . import results as r
from .embedding import embed, similarities
from .records import Records
from .tooling import CLEARS, MemoryPart, current_memory, tools_of_both

_MOST_FOUND: Final = 50
_DIGITS: Final = 6

Words: TypeAlias = Annotated[
    str, Field(min_length=1, description="What to remember, as a sentence that says it all.")
]
Number: TypeAlias = Annotated[
    int, Field(ge=0, description="Number of the entry, as adding or retrieving it gave it.")
]
Query: TypeAlias = Annotated[
    str, Field(min_length=1, description="What to look for, in words that the entry may have.")
]
Most: TypeAlias = Annotated[
    int, Field(ge=1, le=_MOST_FOUND, description="How many entries to return at most.")
]


def vector_tools(records: Records) -> list[Tool]:
    """Return the tools of this store."""
    return tools_of_both(_Part, records)


class _Part(MemoryPart):
    """One part of every user's memory; its public methods are the tools."""

    def tools(self) -> list[Tool]:
        make = self._tool
        return [
            make(self.add, ADDS),
            make(self.remove, OVERWRITES),
            make(self.update, OVERWRITES),
            make(self.clear, CLEARS),
            make(self.retrieve, READS),
            make(self.retrieve_all, READS),
        ]

    async def add(self, text: Words) -> r.Added:
        """Remember a text: store it in {memory}, {room}. Returns the number of the new entry."""
        entries = self._entries()
        self._size.check_room(len(entries))
        self._size.check_length(text)
        number = max((int(entry.key) for entry in entries), default=-1) + 1
        self._records.put(current_memory(), self._part, str(number), text, embed(text))
        return r.Added(id=number)

    async def remove(self, vec_id: Number) -> r.Status:
        """Remove a single entry from {memory} by its number; all others stay."""
        if not self._records.remove(current_memory(), self._part, str(vec_id)):
            raise self._no_entry(vec_id)
        return r.Status(status=f"Entry {vec_id} removed.")

    async def update(self, vec_id: Number, new_text: Words) -> r.Status:
        """Put another text in the place of an entry of {memory}."""
        if self._records.text(current_memory(), self._part, str(vec_id)) is None:
            raise self._no_entry(vec_id)
        self._size.check_length(new_text)
        self._records.put(current_memory(), self._part, str(vec_id), new_text, embed(new_text))
        return r.Status(status=f"Entry {vec_id} updated.")

    async def retrieve(self, query: Query, top_k: Most = 5) -> r.AllSimilar:
        """Find the entries of {memory} whose words are most like a query, the nearest first."""
        entries = self._entries()
        scores = similarities(query, [entry.vector for entry in entries])
        found = sorted(zip(scores, entries, strict=True), key=lambda pair: -pair[0])[:top_k]
        return r.AllSimilar(
            result=[
                r.Similar(
                    id=int(entry.key), similarity_score=round(score, _DIGITS), text=entry.text
                )
                for score, entry in found
            ]
        )

    async def retrieve_all(self) -> r.AllNumbered:
        """List every entry of {memory} with its number,

        where no query is at hand or all of it is wanted.
        """
        entries = self._entries()
        return r.AllNumbered(
            result=[r.Numbered(id=int(entry.key), text=entry.text) for entry in entries]
        )

    def _no_entry(self, number: int) -> ToolError:
        return ToolError(
            f"There is no entry {number} in {self._part} memory; {self._part}_memory_retrieve_all "
            "lists all"
        )
