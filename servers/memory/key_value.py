"""The key-value store: entries are stored and found by name."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import re
from typing import Annotated, Final, TypeAlias

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from ..common.hints import ADDS, OVERWRITES, READS
from . import results as r
from .ranking import ranked
from .records import Records
from .tooling import CLEARS, MemoryPart, current_memory, tools_of_both

_KEY: Final = re.compile(r"[a-z]+(_[a-z0-9]+)*")
_MOST_FOUND: Final = 50

NewKey: TypeAlias = Annotated[
    str,
    Field(
        description="A new name for it, in snake_case, that tells what it is about.",
        examples=["favourite_colour"],
    ),
]
Key: TypeAlias = Annotated[
    str,
    Field(
        description="The name under which it is stored, exactly as it was given.",
        examples=["favourite_colour"],
    ),
]
Value: TypeAlias = Annotated[str, Field(min_length=1, description="What to remember.")]
Query: TypeAlias = Annotated[
    str, Field(min_length=1, description="Words that the name may have in it.")
]
Most: TypeAlias = Annotated[
    int, Field(ge=1, le=_MOST_FOUND, description="How many names to return at most.")
]


def key_value_tools(records: Records) -> list[Tool]:
    """Return the tools of this store."""
    return tools_of_both(_Part, records)


class _Part(MemoryPart):
    """One part of every user's memory; its public methods are the tools."""

    def tools(self) -> list[Tool]:
        make = self._tool
        tools = [
            make(self.add, ADDS),
            make(self.remove, OVERWRITES),
            make(self.replace, OVERWRITES),
            make(self.clear, CLEARS),
            make(self.retrieve, READS),
            make(self.list_keys, READS),
            make(self.key_search, READS),
        ]
        return [*tools, make(self.retrieve_all, READS)] if self._part == "core" else tools

    async def add(self, key: NewKey, value: Value) -> r.Status:
        """Remember something under a new name in {memory}, {room}.

        By that name it is found later.
        """
        keys = self._keys()
        self._size.check_room(len(keys))
        self._size.check_length(value)
        if _KEY.fullmatch(key) is None:
            raise ToolError(
                "A key is in snake_case: lower case letters, digits and underscores, such as "
                "home_town"
            )
        if key in keys:
            raise ToolError(
                f"There is a key {key} already; use {self._part}_memory_replace to change it"
            )
        self._records.put(current_memory(), self._part, key, value)
        return r.Status(status="Key-value pair added.")

    async def remove(self, key: Key) -> r.Status:
        """Remove a single name, and what is stored under it, from {memory}; all others stay."""
        if not self._records.remove(current_memory(), self._part, key):
            raise self._no_key(key)
        return r.Status(status="Key removed.")

    async def replace(self, key: Key, value: Value) -> r.Status:
        """Put something else in the place of what is stored under a name in {memory}."""
        self._value(key)
        self._size.check_length(value)
        self._records.put(current_memory(), self._part, key, value)
        return r.Status(status="Key replaced.")

    async def retrieve(self, key: Key) -> r.Value:
        """Look up what is stored under exactly this name in {memory}; key_search finds names."""
        return r.Value(value=self._value(key))

    async def list_keys(self) -> r.Keys:
        """List all names under which something is stored in {memory}."""
        return r.Keys(keys=self._keys())

    async def key_search(self, query: Query, k: Most = 5) -> r.RankedKeys:
        """Find names in {memory} that have words in common with a query, the best first.

        It returns no values.
        """
        found = ranked(query, self._keys(), k)
        return r.RankedKeys(
            ranked_results=[r.RankedKey(score=score, key=key) for score, key in found]
        )

    async def retrieve_all(self) -> r.Pairs:
        """Read all of {memory} at once: every name with what is stored under it."""
        entries = self._entries()
        return r.Pairs(entries={entry.key: entry.text for entry in entries})

    def _keys(self) -> list[str]:
        return [entry.key for entry in self._entries()]

    def _value(self, key: str) -> str:
        text = self._records.text(current_memory(), self._part, key)
        if text is None:
            raise self._no_key(key)
        return text

    def _no_key(self, key: str) -> ToolError:
        return ToolError(
            f"There is no key {key} in {self._part} memory; {self._part}_memory_list_keys lists all"
        )
