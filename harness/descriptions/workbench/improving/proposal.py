"""A proposal (other texts for some tools), and the input of proposers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.base import UsageError, matches_schema
from harness.descriptions.workbench.improving.expected_calls import ExpectedCall
from harness.descriptions.workbench.parts import Part
from harness.runner import ShownTools
from harness.types import JsonObject, Tool, ToolEdit, ToolList, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFailure:
    """A case that failed on the server's own list, as proposers see it."""

    prompt: str
    """What the user said."""
    expected: ExpectedCall | None
    """The right call, if the case's checks name it."""
    called: str | None
    """The tool that the model called first, if any."""
    arguments: JsonObject
    """The arguments of that call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposerInput:
    """The input of proposers, without anything from the held-out cases."""

    tools: tuple[Tool, ...]
    """The tools, with the server's words."""
    failures: tuple[CaseFailure, ...]
    """Failures that better words may fix."""
    effects: tuple[tuple[Part, float], ...] = ()
    """The effects of parts of the descriptions on the pass rate of the seen cases, where
    measured."""
    values: Mapping[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    """Tool and parameter → values that failures expect and no held-out case contains."""

    def find_tool(self, name: str) -> Tool | None:
        """Return the tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def failing_tools(self) -> list[Tool]:
        """Return the tools that failures expect, the one with the most failures first."""
        counts: dict[str, int] = {}
        for failure in self.failures:
            if failure.expected is not None:
                counts[failure.expected.tool] = counts.get(failure.expected.tool, 0) + 1
        ranked = sorted(counts, key=lambda name: -counts[name])
        return [tool for name in ranked if (tool := self.find_tool(name)) is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Other texts for some tools."""

    name: str
    """Short and unique among the proposals of a study."""
    why: str
    """What it changes and why, in a sentence."""
    tools: Mapping[str, ToolEdit]
    """The changes, by the server's name of a tool; nothing is hidden."""
    by: str = "rules"
    """Its author: ``rules``, or the name of a model."""

    @property
    def variant(self) -> Variant:
        """The proposal as a changed tool list."""
        return Variant(name=self.name, tools=self.tools, description=self.why)


def find_mistake(proposal: Proposal, tools: Sequence[Tool]) -> str | None:
    """Return why ``proposal`` is unusable for ``tools``; ``None`` if it can be tried."""
    known = {tool.name: tool for tool in tools}
    for name, edit in proposal.tools.items():
        if name not in known:
            return f"there is no tool {name!r}"
        if wrong := _wrong_parameter(known[name], edit):
            return wrong
    try:
        shown = ShownTools(proposal.variant, ToolList(tools=tuple(tools)))
    except UsageError as error:
        return error.message
    # Compared as shown: a change may come to the text that is there already.
    same = list(map(_tool_words, shown.tools.tools)) == list(map(_tool_words, tools))
    return "it changes nothing" if same else None


def parameter_schemas(tool: Tool) -> Mapping[str, Any]:
    """Return parameter → schema of ``tool``."""
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _wrong_parameter(tool: Tool, edit: ToolEdit) -> str | None:
    for name, change in edit.parameters.items():
        schema = parameter_schemas(tool).get(name)
        if not isinstance(schema, Mapping):
            return f"{tool.name} has no parameter {name!r}"
        if change is None:
            return f"it removes {name} of {tool.name}"
        values = (*(change.enum or ()), *(change.examples or ()), *(change.default or ()))
        for value in values:
            if not matches_schema(value, schema, tool.input_schema):
                return f"{value!r} is not a valid {name} of {tool.name}"
    return None


def _tool_words(tool: Tool) -> JsonObject:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description.strip(),
        "schema": tool.input_schema,
    }
