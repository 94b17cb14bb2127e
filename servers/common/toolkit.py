"""Building tools for every server: closed results, and descriptions taken from docstrings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ConfigDict, with_config

closed = with_config(ConfigDict(extra="forbid"))
"""Lets a typed dictionary's schema say that there are no other fields."""


def make_tool(function: Callable[..., Any], title: str, annotations: ToolAnnotations) -> Tool:
    """Return the coroutine function ``function`` as a tool with structured results.

    Its docstring is the description that models read: one paragraph, its line breaks taken out.
    """
    description = " ".join((function.__doc__ or "").split())
    return Tool.from_function(
        function,
        title=title,
        description=description,
        annotations=annotations,
        structured_output=True,
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
        raise ToolError(
            f"{low_name} is after {high_name} or above it: nothing can match; swap them"
        )
