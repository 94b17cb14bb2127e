"""The parts of a tool list that a model reads; each can be removed and costs tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from harness.models import estimate_tokens
from harness.runner import Facet, get_facet, split_sentences
from harness.types import JsonObject, ParameterEdit, Tool, ToolEdit, Variant

PartKind: TypeAlias = Literal[
    "name", "title", "sentence", "parameter name", "parameter text", "enum", "examples", "default"
]
"""The kind of a part."""
_FACETS: tuple[Facet, ...] = ("enum", "examples", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of one tool's words."""

    tool: str
    """The server's name of the tool."""
    kind: PartKind
    """Its kind."""
    text: str
    """The words themselves; values as JSON."""
    parameter: str | None = None
    """The parameter that it belongs to, if any."""
    number: int | None = None
    """Number of a sentence in the description, from 1."""

    @property
    def label(self) -> str:
        """The part in a few words: ``search_orders: sentence 2``."""
        what = f"sentence {self.number}" if self.kind == "sentence" else self.kind
        if self.parameter is not None:
            what = f"{self.kind.removeprefix('parameter ')} of {self.parameter}"
        return f"{self.tool}: {what}"

    @property
    def tokens(self) -> int:
        """Estimated number of tokens that it adds to every request."""
        # Even a single character costs a token.
        return max(1, estimate_tokens(self.text))


def iterate_parts(tools: Sequence[Tool]) -> Iterator[Part]:
    """Yield every part of ``tools``, in the order in which a model reads them."""
    for tool in tools:
        yield Part(tool=tool.name, kind="name", text=tool.name)
        if tool.title:
            yield Part(tool=tool.name, kind="title", text=tool.title)
        for place, sentence in enumerate(split_sentences(tool.description), start=1):
            yield Part(tool=tool.name, kind="sentence", text=sentence, number=place)
        yield from _parameter_parts(tool)


def remove_part(part: Part, tools: Sequence[Tool]) -> Variant:
    """Return the variant that removes ``part`` from ``tools``.

    A name cannot be removed: it becomes a meaningless one (``tool_3``, ``value_2``).
    """
    tool = next(tool for tool in tools if tool.name == part.tool)
    return Variant(
        name=f"without {part.label}",
        tools={part.tool: _removal_edit(part, tool, [tool.name for tool in tools])},
        description=f"What does this carry: {part.text}",
    )


def _removal_edit(part: Part, tool: Tool, names: Sequence[str]) -> ToolEdit:
    if part.kind == "name":
        return ToolEdit(name=_free_name("tool", names.index(tool.name) + 1, names))
    if part.kind == "title":
        return ToolEdit(title="")
    if part.kind == "sentence":
        assert part.number is not None
        return ToolEdit(without_sentences=(part.number,))
    assert part.parameter is not None
    own = list(parameter_schemas(tool))
    edits = {
        "parameter name": ParameterEdit(
            name=_free_name("value", own.index(part.parameter) + 1, own)
        ),
        "parameter text": ParameterEdit(description=""),
        "enum": ParameterEdit(enum=()),
        "examples": ParameterEdit(examples=()),
        "default": ParameterEdit(default=()),
    }
    return ToolEdit(parameters={part.parameter: edits[part.kind]})


def _free_name(word: str, number: int, taken: Sequence[str]) -> str:
    name = f"{word}_{number}"
    return name if name not in taken else f"{name}_x"


def _parameter_parts(tool: Tool) -> Iterator[Part]:
    for name, schema in parameter_schemas(tool).items():
        yield Part(tool=tool.name, kind="parameter name", text=name, parameter=name)
        if not isinstance(schema, Mapping):
            continue
        said = schema.get("description")
        if isinstance(said, str) and said.strip():
            yield Part(tool=tool.name, kind="parameter text", text=said, parameter=name)
        for kind in _FACETS:
            value = get_facet(schema, kind)
            if value not in (None, []):
                text = json.dumps(value, ensure_ascii=False, default=str)
                yield Part(tool=tool.name, kind=kind, text=text, parameter=name)


def parameter_schemas(tool: Tool) -> Mapping[str, Any]:
    """Return parameter → schema of ``tool``."""
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def tool_json(tool: Tool) -> JsonObject:
    """Return the words of ``tool`` as JSON."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
