"""Helpers with which the stores make their tools."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from ..common.governed import current_user
from ..common.hints import OVERWRITES
from . import results as r
from .records import Entry, Part, Records
from .sizes import SIZES, Size

CLEARS: Final = OVERWRITES
"""The tool forgets everything; called again it changes nothing more."""

_ROOM: Final = {
    "core": f"which holds {SIZES['core'].entries} short entries: keep it for what is needed most",
    "archival": f"which holds {SIZES['archival'].entries} longer entries",
}


def current_memory() -> str:
    """Return whose memory it is: the identity that came with the request, as a text.

    Nobody has one, too.
    """
    return json.dumps(current_user(), sort_keys=True, ensure_ascii=False)


class MemoryPart(ABC):
    """One part of every user's memory.

    Its public coroutines are tools, all named after one model: ``core_memory_add``.

    Their docstrings may name ``{memory}`` and its ``{room}``.
    """

    def __init__(self, records: Records, part: Part) -> None:
        """``part`` is ``core`` or ``archival``."""
        self._records, self._part = records, part
        self._size: Size = SIZES[part]

    @abstractmethod
    def tools(self) -> list[Tool]:
        """Return the tools, in the order in which they are listed."""

    async def clear(self) -> r.Status:
        """Forget everything in {memory}, including what earlier conversations stored.

        It cannot be undone.
        """
        self._records.clear(current_memory(), self._part)
        return r.Status(status="Memory cleared.")

    def _entries(self) -> list[Entry]:
        return self._records.entries(current_memory(), self._part)

    def _tool(self, function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
        name = f"{self._part}_memory_{function.__name__}"
        words = " ".join((function.__doc__ or "").split())
        return Tool.from_function(
            function,
            name=name,
            title=name.replace("_", " ").capitalize(),
            description=words.replace("{memory}", f"{self._part} memory").replace(
                "{room}", _ROOM[self._part]
            ),
            annotations=annotations,
            structured_output=True,
        )


def tools_of_both(kind: type[MemoryPart], records: Records) -> list[Tool]:
    """Return the tools of the core and of the archival memory of that kind."""
    return [*kind(records, "core").tools(), *kind(records, "archival").tools()]
