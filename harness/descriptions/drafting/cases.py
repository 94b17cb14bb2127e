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
    """Why the case exists."""
    turns: tuple[JsonObject, ...] = ()
    """The user's turns in the suite's form, if there are several; they replace `prompt`."""
    user_context: JsonObject | None = None
    """The user context, if it differs from that of the suite."""
    must_succeed: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Tools with the arguments that the prompt gives; the case needs a successful call of each."""
    must_not_call: tuple[str, ...] = ()
    """Tools that must not be called."""
    tags: tuple[str, ...] = ()
    """Labels."""
    comments: tuple[str, ...] = ()
    """Notes for its author, one sentence each."""
    is_live: bool = True
    """``False`` if its tool seems to change something: the case is then commented out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSuite:
    """A whole suite, ready to be written."""

    name: str
    """Its name."""
    server: ServerSpec | str
    """The command or URL of the server, or its configured name."""
    cases: tuple[DraftCase, ...]
    """One for each tool."""
    safety: tuple[DraftCase, ...] = ()
    """Safety cases."""
    blocked: tuple[str, ...] = ()
    """Tools whose calls the suite blocks: all that are not marked as read-only."""
    read_only: bool = False
    """Whether the suite blocks everything that is not marked as read-only, because it cannot write
    a tool's name."""
    user_context: JsonObject | None = None
    """The user context in which the tools were listed, and in which every case is asked."""
    notes: tuple[str, ...] = field(default_factory=tuple)
    """Notes on tools that were left out, with the reason."""
    marks: bool = True
    """Whether the server marks any of its tools as read-only or destructive."""
    unmarked: tuple[str, ...] = ()
    """Blocked tools for which the server does not say whether they change something."""
