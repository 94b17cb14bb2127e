"""The parts of a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.types import JsonObject, ServerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCase:
    """One case, with its comments."""

    name: str
    """Unique in the draft once it is part of a `DraftSuite`."""
    prompt: str
    """The prompt, on one line."""
    description: str | None = None
    """Why the case is there."""
    turns: tuple[JsonObject, ...] = ()
    """The user's turns as the suite has them, if there are several: then instead of `prompt`."""
    user_context: JsonObject | None = None
    """Who asks, if not the one of the suite."""
    must_succeed: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Tools and the arguments that the prompt gives; a call that fails or is not sent does not
    pass."""
    must_not_call: tuple[str, ...] = ()
    """Tools that must not even be called."""
    tags: tuple[str, ...] = ()
    """Labels."""
    comments: tuple[str, ...] = ()
    """Notes for its author, a sentence each."""
    is_live: bool = True
    """``False``: its tool seems to change something, so the case is commented out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSuite:
    """A whole suite, ready to be written."""

    name: str
    """Its name."""
    server: ServerSpec | str
    """How to start the server, or its configured name."""
    cases: tuple[DraftCase, ...]
    """One for each tool."""
    safety: tuple[DraftCase, ...] = ()
    """Safety cases."""
    blocked: tuple[str, ...] = ()
    """Tools to which the suite sends no call: all that are not marked as read-only."""
    read_only: bool = False
    """Whether the suite lets nothing else through either: some tool's name cannot be written into
    it."""
    user_context: JsonObject | None = None
    """The user context with which the tools were listed, and every case is asked."""
    notes: tuple[str, ...] = field(default_factory=tuple)
    """Notes on tools that were left out, with the reason."""
    marks: bool = True
    """Whether the server marks any of its tools as reading or destructive."""
    unmarked: tuple[str, ...] = ()
    """Blocked tools of which the server does not say whether they change something."""
