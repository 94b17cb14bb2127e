"""Tools as a variant presented them to a model, found by the server's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.types.specs import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedTool:
    """One tool as the model saw it."""

    tool: Tool
    """The name, texts and schema that the model saw."""
    plain_name: str
    """That name without the prefix that a variant puts before every name."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The server's name of a renamed parameter → the name that the model saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """The tools of one user as a variant presented them to the model."""

    variant: str
    """Name of the variant."""
    tools: Mapping[str, PresentedTool]
    """The server's name of a tool → the tool as the model saw it."""
    hidden: frozenset[str] = frozenset()
    """The server's names of the tools that the variant does not show."""
