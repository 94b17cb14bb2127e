"""Variants: changed tool lists, or other words of the user, that a model sees instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from harness.types.basics import Location
from harness.types.shared_dataclass import dataclass
from harness.types.specs import Tool

DecoyKind: TypeAlias = Literal["unrelated", "near"]
"""``unrelated``: tools of other domains. ``near``: tools that sound like the server's own."""

ResultMarking: TypeAlias = Literal["delimiting", "datamarking", "encoding"]
"""How results are marked as data: between delimiters, by a sign for each space, or in Base64."""
ToolFilter: TypeAlias = Literal["model"] | int
"""What chooses tools by the user's words: the model itself, or the so many best by BM25."""

COPY_LETTERS = "bcdefghijklmnopqrstuvwxyz"
"""The copies of ``search`` are called ``search_b``, ``search_c`` and so on: at most so many."""
_SERVER, _COPY = "server:", "copy:"
"""Prefixes of `Decoys.source`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterEdit:
    """Changes to what a model sees of one parameter; ``None`` leaves a part as it is."""

    name: str | None = None
    """Another name; it is mapped back in calls."""
    description: str | None = None
    """Another description; empty removes it."""
    enum: tuple[Any, ...] | None = None
    """Other allowed values; empty removes the list."""
    examples: tuple[Any, ...] | None = None
    """Other examples; empty removes them."""
    default: tuple[Any, ...] | None = None
    """Another default, as the only item; empty removes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEdit:
    """Changes to what a model sees of one tool; ``None`` leaves a part as it is."""

    name: str | None = None
    """Another name; it is mapped back in calls."""
    title: str | None = None
    """Another title; empty removes it."""
    description: str | None = None
    """Another description; empty removes it."""
    without_sentences: tuple[int, ...] = ()
    """Sentences to remove from the description, counted from 1."""
    parameters: Mapping[str, ParameterEdit | None] = field(default_factory=dict)
    """Name of a parameter → its changes; ``None`` hides the parameter from the model."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Part of the text of an error → the text that the model is shown in place of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionsEdit:
    """Changes to what a model sees of the server's instructions."""

    text: str | None = None
    """Other instructions; empty removes them; ``None`` leaves them as they are."""
    without_sentences: tuple[int, ...] = ()
    """Sentences to remove, counted from 1, over all servers if several are joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoys:
    """Tools that are added to a list, and whose calls are never sent."""

    source: str = "builtin"
    """``builtin``, ``bfcl`` (fetched data), ``server:NAME`` (the list of a configured one), or
    ``copy:TOOL`` (copies of a tool of the server itself, under names such as ``TOOL_b``)."""
    count: int = 8
    """How many."""
    kind: DecoyKind = "unrelated"
    """Which kind, if the source has several."""
    seed: int = 0
    """Selects them: equal seeds give equal decoys, and a larger count adds to a smaller one."""
    description: str | None = None
    """What copies are described with; ``None`` means the server's description of the tool."""

    @property
    def server(self) -> str | None:
        """The configured server whose tools they are, if any."""
        return self.source.removeprefix(_SERVER) if self.source.startswith(_SERVER) else None

    @property
    def copied_tool(self) -> str | None:
        """The tool of the server that they are copies of, if any."""
        return self.source.removeprefix(_COPY) if self.source.startswith(_COPY) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearch:
    """A search in place of a long list of tools: what it finds is in the list from then on."""

    beyond: int = 0
    """A list of more tools than this is searched; a shorter one is shown as it is."""
    results: int = 5
    """How many tools one search finds at most."""
    name: str = "tool_search"
    """What the model sees the search as."""
    names: bool = False
    """Whether the search tells the names of all tools beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A changed tool list for the model; the server is not changed, and calls are mapped back.

    Prompts can be changed too, to learn whether a case depends on its wording.
    """

    name: str
    """Unique among the variants of a run."""
    tools: Mapping[str, ToolEdit | None] = field(default_factory=dict)
    """The server's name of a tool → its changes; ``None`` hides the tool from the model."""
    instructions: InstructionsEdit | None = None
    """Changes to the server's instructions; ``None`` leaves them as they are."""
    order: int | tuple[str, ...] | None = None
    """Seed of a shuffle, or the server's names of the tools that come first; ``None`` keeps the
    order. A shuffle puts any two tools in the same order in every user's list."""
    add: tuple[Decoys, ...] = ()
    """Decoys, spread over the list by their seed, or shuffled with it by the seed of the order."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Name of a case → other words for its prompt, or for the prompt of its first turn. Its checks
    stay as they are."""
    prefix: str = ""
    """Text before the name of each tool, as clients put it there: ``mcp__crm__``."""
    max_result_tokens: int | None = None
    """About how many tokens of a result the model is told; ``None``: all. The record has all."""
    text_only: bool = False
    """Whether the model is given the text of results alone, as by clients without pictures."""
    offer_resources: bool = False
    """Whether the model has tools of its host that list and read the server's resources."""
    tool_search: ToolSearch | None = None
    """The search that stands in place of a long list; ``None``: every tool is in the list."""
    mark_results: ResultMarking | None = None
    """How the model is shown that results are data and no orders; ``None``: not at all."""
    tool_filter: ToolFilter | None = None
    """What chooses the tools that the model can call, by the user's words; ``None``: all."""
    block: tuple[str, ...] = ()
    """The server's names of tools whose calls are refused and never sent."""
    description: str | None = None
    """What it is meant to find out, in a sentence."""
    at: Location | None = field(default=None, compare=False)
    """Where it is written."""


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
    offers_resources: bool = False
    """Whether the model had tools to read resources (`Variant.offer_resources`)."""
