"""One planted defect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from harness.types import ParameterEdit, Tool, ToolEdit, Variant, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A tool list with one defect."""

    operator: str
    """Name of its operator."""
    tool: str
    """The server's name of the tool with the defect."""
    defect: str
    """The defect, as a clause: "its text is that of get_order"."""
    edits: Mapping[str, ToolEdit]
    """The server's name of a tool → its changes."""
    other: str | None = None
    """A second tool that is involved."""
    parameter: str | None = None
    """The server's name of the parameter with the defect."""
    value: tuple[Any, ...] = ()
    """The value, as the only item, that a test must ask for to notice the defect; empty if any
    value does."""

    @property
    def label(self) -> str:
        """``enum member removed in search_orders.status: 'shipped' is not among the values``."""
        place = f"{self.tool}.{self.parameter}" if self.parameter else self.tool
        return f"{self.operator.replace('-', ' ')} in {place}: {self.defect}"

    @property
    def variant(self) -> Variant:
        """The variant with which a model sees the defect."""
        return Variant(name=f"mutant {self.label}", tools=self.edits, description=self.defect)


Operator: TypeAlias = Callable[[str, Sequence[Tool]], Iterator[Mutant]]
"""Yields every mutant of one kind that is possible for a tool list; it gets the kind's name."""


class ToolDefect(NamedTuple):
    """A defect in one tool, and the change that plants it."""

    text: str
    """The defect, as a clause."""
    edit: ToolEdit
    """The change."""
    parameter: str | None = None
    """As in `Mutant`."""
    value: tuple[Any, ...] = ()
    """As in `Mutant`."""


class ParameterDefect(NamedTuple):
    """A defect in one parameter, and the change that plants it."""

    text: str
    """The defect, as a clause."""
    edit: ParameterEdit
    """The change."""
    value: tuple[Any, ...] = ()
    """As in `Mutant`."""


def mutate_tools(find: Callable[[Tool], Iterator[ToolDefect]]) -> Operator:
    """Return the operator that plants what ``find`` yields for each tool."""

    def plant(operator: str, tools: Sequence[Tool]) -> Iterator[Mutant]:
        for tool in tools:
            for text, edit, parameter, value in find(tool):
                yield Mutant(
                    operator=operator,
                    tool=tool.name,
                    defect=text,
                    edits={tool.name: edit},
                    parameter=parameter,
                    value=value,
                )

    return plant


def mutate_parameters(find: Callable[[Mapping[str, Any]], Iterator[ParameterDefect]]) -> Operator:
    """Return the operator that plants what ``find`` yields for the schema of each parameter."""

    def find_in_tool(tool: Tool) -> Iterator[ToolDefect]:
        for name, schema in iterate_parameters(tool):
            for text, edit, value in find(schema):
                yield ToolDefect(text, ToolEdit(parameters={name: edit}), name, value)

    return mutate_tools(find_in_tool)


def read_word_pairs(text: str) -> dict[str, str]:
    """Return word → other word from ``one other, second another``."""
    return {one: other for one, _, other in (pair.partition(" ") for pair in text.split(", "))}


def iterate_parameters(tool: Tool) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and the schema of each parameter of ``tool``."""
    properties = tool.input_schema.get("properties")
    if isinstance(properties, Mapping):
        for name, schema in properties.items():
            if isinstance(schema, Mapping):
                yield str(name), schema


def parameter_text(schema: Mapping[str, Any]) -> str:
    """Return the description of a parameter; empty if it has none."""
    said = schema.get("description")
    return said if isinstance(said, str) else ""
