"""The rewrite for people: the changes before and after, and a file of variants."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.descriptions.drafting.yaml_text import dump_yaml
from harness.descriptions.workbench.improving.proposal import Proposal
from harness.descriptions.workbench.parts import parameter_schemas
from harness.runner import split_sentences
from harness.types import JsonObject, ParameterEdit, Tool, ToolEdit


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """One changed part of a tool's words; values of an enum and the like are JSON."""

    tool: str
    """The server's name of the tool."""
    parameter: str | None
    """The parameter, if the change is in one."""
    part: str
    """``name``, ``title``, ``description``, ``enum``, ``examples`` or ``default``."""
    before: str
    """The server's text; empty if there is none."""
    after: str
    """The new text; empty if there is none."""

    @property
    def part_name(self) -> str:
        """The location: ``search_orders, description of status``."""
        of = "" if self.parameter is None else f" of {self.parameter}"
        return f"{self.tool}, {self.part}{of}"


def iterate_changes(proposal: Proposal, tools: Sequence[Tool]) -> Iterator[TextChange]:
    """Yield every part that ``proposal`` changes, in the order of the list."""
    for tool in tools:
        edit = proposal.tools.get(tool.name)
        if edit is not None:
            yield from _tool_changes(tool, edit)


def format_diff(change: TextChange) -> Iterator[str]:
    """Yield the lines of a readable diff: removals and additions."""
    yield change.part_name
    if change.part != "description":
        yield f"  - {change.before or '(nothing)'}"
        yield f"  + {change.after or '(nothing)'}"
        return
    before, after = split_sentences(change.before), split_sentences(change.after)
    # If only the order has changed, leaving out equal sentences would leave nothing.
    moved = set(before) == set(after)
    yield from (f"  - {text}" for text in before if moved or text not in after)
    yield from (f"  + {text}" for text in after if moved or text not in before)


def variants_yaml(named: Mapping[str, Proposal]) -> str:
    """Return the text of a file of variants: name of the variant → its proposal."""
    variants = {
        name: {"description": one.why, "tools": tools_json(one)} for name, one in named.items()
    }
    return dump_yaml({"variants": variants})


def tools_json(proposal: Proposal) -> JsonObject:
    """Return the changes of ``proposal`` in the form of a file of variants."""
    return {tool: _edit_json(edit) for tool, edit in proposal.tools.items()}


def _edit_json(edit: ToolEdit) -> JsonObject:
    parameters = {
        name: None if change is None else _parameter_json(change)
        for name, change in edit.parameters.items()
    }
    written = {
        "name": edit.name,
        "title": edit.title,
        "description": edit.description,
        "without_sentences": list(edit.without_sentences) or None,
        "parameters": parameters or None,
    }
    return {key: value for key, value in written.items() if value is not None}


def _parameter_json(change: ParameterEdit) -> JsonObject:
    written = {
        name: list(value) if isinstance(value, tuple) else value
        for name in ("name", "description", "enum", "examples")
        if (value := getattr(change, name)) is not None
    }
    # In a tuple, since null is a default as well.
    if change.default is not None:
        written["default"] = change.default[0] if change.default else None
    return written


def _tool_changes(tool: Tool, edit: ToolEdit) -> Iterator[TextChange]:
    own = {"name": tool.name, "title": tool.title or "", "description": tool.description}
    changes: list[tuple[str | None, str, Any, Any]] = [
        (None, part, before, after)
        for part, before in own.items()
        if (after := getattr(edit, part)) is not None
    ]
    for name, change in edit.parameters.items():
        schema = parameter_schemas(tool).get(name)
        if change is not None and isinstance(schema, Mapping):
            known = {**schema, "name": name}
            changes += [
                (name, part, known.get(part), after)
                for part, after in _parameter_json(change).items()
            ]
    for parameter, part, before, after in changes:
        if after != before:
            yield TextChange(
                tool=tool.name,
                parameter=parameter,
                part=part,
                before=_format_value(before),
                after=_format_value(after),
            )


def _format_value(value: Any) -> str:
    if value is None or value == []:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
