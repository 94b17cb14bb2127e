"""What a model sees in place of a server's own tool list: variants, each a set of edits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.types.basics import Location

DecoyKind: TypeAlias = Literal["unrelated", "near"]
"""``unrelated``: tools of other fields. ``near``: tools that sound like the server's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterEdit:
    """What a model sees of one parameter in place of the server's words; ``None`` leaves a part."""

    name: str | None = None
    """Another name; calls are mapped back."""
    description: str | None = None
    """Another description; empty takes it out."""
    enum: tuple[Any, ...] | None = None
    """Other allowed values; empty takes the list out."""
    examples: tuple[Any, ...] | None = None
    """Other examples; empty takes them out."""
    default: tuple[Any, ...] | None = None
    """Another default, as the one item; empty takes it out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEdit:
    """What a model sees of one tool in place of the server's words; ``None`` leaves a part."""

    name: str | None = None
    """Another name; calls are mapped back."""
    title: str | None = None
    """Another title; empty takes it out."""
    description: str | None = None
    """Another description; empty takes it out."""
    without_sentences: tuple[int, ...] = ()
    """Sentences of the description that are taken out, from 1."""
    parameters: Mapping[str, ParameterEdit | None] = field(default_factory=dict)
    """Name of a parameter → its edit; ``None`` takes it out of what the model sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoys:
    """Tools that are added to a list and lead nowhere."""

    source: str = "builtin"
    """``builtin``, ``bfcl`` (fetched data), or ``server:NAME`` (the list of a configured one)."""
    count: int = 8
    """How many."""
    kind: DecoyKind = "unrelated"
    """Which sort, where the source has several."""
    seed: int = 0
    """Which of them: equal seed, equal decoys, and a larger count adds to a smaller one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A tool list as a model is to see it: the server is never touched, and calls are mapped back."""

    name: str
    """Unique among the variants of a run."""
    tools: Mapping[str, ToolEdit | None] = field(default_factory=dict)
    """The server's name of a tool → its edit; ``None`` does not offer it."""
    order: int | tuple[str, ...] | None = None
    """Seed of a shuffle, or the server's names of the tools that come first; ``None`` leaves it."""
    add: tuple[Decoys, ...] = ()
    """Decoys, spread over the list by their seed."""
    description: str | None = None
    """What it tries, in a sentence."""
    at: Location | None = field(default=None, compare=False)
    """Where it is written."""
