"""Combines several proposals into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from harness.descriptions.workbench.improving.proposal import Proposal, properties_of
from harness.runner import without
from harness.types import ParameterEdit, Tool, ToolEdit

_Edit = TypeVar("_Edit", ToolEdit, ParameterEdit)


def combined(name: str, proposals: Sequence[Proposal], tools: Sequence[Tool]) -> Proposal:
    """Return ``proposals`` as one; where two change the same part, the first decides.

    All sentences that are added at the end of a text are kept.
    """
    own = {tool.name: tool for tool in tools}
    edits: dict[str, ToolEdit] = {}
    for proposal in proposals:
        for tool, edit in proposal.tools.items():
            edits[tool] = _merged(own[tool], edits[tool], edit) if tool in edits else edit
    makers = dict.fromkeys(proposal.by for proposal in proposals)
    return Proposal(
        name=name,
        why="; ".join(proposal.name for proposal in proposals),
        tools=edits,
        by=", ".join(makers),
    )


def plain(tool: Tool, edit: ToolEdit) -> ToolEdit:
    """Return ``edit`` with removed sentences as a changed description, which can be combined."""
    if not edit.without_sentences:
        return edit
    text = tool.description if edit.description is None else edit.description
    return replace(edit, description=without(text, edit.without_sentences), without_sentences=())


def _merged(tool: Tool, first: ToolEdit, second: ToolEdit) -> ToolEdit:
    parameters = dict(first.parameters)
    for name, change in second.parameters.items():
        known = parameters.get(name)
        if known is None or change is None:
            parameters[name] = change
            continue
        said = str(properties_of(tool).get(name, {}).get("description") or "")
        parameters[name] = _first_of(
            known, change, description=_text(said, known.description, change.description)
        )
    return _first_of(
        first,
        second,
        description=_text(tool.description, first.description, second.description),
        parameters=parameters,
    )


def _first_of(first: _Edit, second: _Edit, **decided: Any) -> _Edit:
    """Return ``first``, with the parts of ``second`` that ``first`` does not change."""
    given = {
        one.name: getattr(second, one.name)
        for one in fields(first)
        if getattr(first, one.name) is None
    }
    return replace(first, **{**given, **decided})


def _text(before: str, first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return second if first is None else first
    added = second.removeprefix(before.strip())
    return first if added == second or added in first else f"{first}{added}"
