"""What a draft consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.types import JsonObject, ServerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftCase:
    """One case, with what is to be said about it."""

    name: str
    """Unique in the draft once it is part of a `DraftSuite`."""
    prompt: str
    """What the user says, on one line."""
    description: str | None = None
    """Why the case is there."""
    must_call: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Tools and the arguments that the prompt gives."""
    must_not_call: tuple[str, ...] = ()
    """Tools that must not even be tried."""
    tags: tuple[str, ...] = ()
    """Labels."""
    comments: tuple[str, ...] = ()
    """What its author should know, a sentence each."""
    is_live: bool = True
    """``False``: it would change something for real, so that it is written as a comment."""


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
    """About harm."""
    blocked: tuple[str, ...] = ()
    """Tools to which the suite sends no call."""
    user_context: JsonObject | None = None
    """As whom the tools were listed; every case is asked by them."""
    notes: tuple[str, ...] = field(default_factory=tuple)
    """What was left out, and why."""
    marks: bool = True
    """Whether the server marks any of its tools as reading or destructive."""
