"""What every server makes its tools of: hints, closed results, and a docstring that becomes a description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ConfigDict, with_config

READS: Final = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""The tool only looks; called again it says the same."""
ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
"""The tool adds something; called again it adds one more."""
OVERWRITES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
"""The tool replaces or deletes what was there; called again it changes nothing more."""

closed = with_config(ConfigDict(extra="forbid"))
"""Lets a typed dictionary's schema say that there are no other fields."""


def make_tool(function: Callable[..., Any], title: str, annotations: ToolAnnotations) -> Tool:
    """Return the coroutine function ``function`` as a tool with structured results.

    Its docstring is the description that models read: one paragraph, its line breaks taken out.
    """
    description = " ".join((function.__doc__ or "").split())
    return Tool.from_function(
        function, title=title, description=description, annotations=annotations, structured_output=True
    )


def fields_of(row: Mapping[str, Any], kind: type, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the columns of ``row`` that a result of this ``kind`` (a typed dictionary) has."""
    return {name: row[name] for name in kind.__annotations__ if name in row and name not in without}


def check_range(low_name: str, low: Any, high_name: str, high: Any) -> None:
    """Let two bounds pass of which either may be ``None``.

    Raises:
        ToolError: they are the wrong way round.
    """
    if low is not None and high is not None and low > high:
        raise ToolError(f"{low_name} is after {high_name} or above it: nothing can match; swap them")
