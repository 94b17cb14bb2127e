"""Combines several proposals into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from harness.descriptions.workbench.improving.proposal import Proposal, parameter_schemas
from harness.runner import remove_sentences
from harness.types import ParameterEdit, Tool, ToolEdit

_Edit = TypeVar("_Edit", ToolEdit, ParameterEdit)


def combine_proposals(name: str, proposals: Sequence[Proposal], tools: Sequence[Tool]) -> Proposal:
    """Return ``proposals`` as one; where two change the same part, the first decides.

    All sentences that are added at the end of a text are kept.
    """
    own = {tool.name: tool for tool in tools}
    edits: dict[str, ToolEdit] = {}
    for proposal in proposals:
        for tool, edit in proposal.tools.items():
            edits[tool] = _merge_edits(own[tool], edits[tool], edit) if tool in edits else edit
    makers = dict.fromkeys(proposal.by for proposal in proposals)
    return Proposal(
        name=name,
        why="; ".join(proposal.name for proposal in proposals),
        tools=edits,
        by=", ".join(makers),
    )


def resolve_edit(tool: Tool, edit: ToolEdit) -> ToolEdit:
    """Return ``edit`` with removed sentences as a changed description, which can be combined."""
    if not edit.without_sentences:
        return edit
    text = tool.description if edit.description is None else edit.description
    return replace(
        edit, description=remove_sentences(text, edit.without_sentences), without_sentences=()
    )


def _merge_edits(tool: Tool, first: ToolEdit, second: ToolEdit) -> ToolEdit:
    parameters = dict(first.parameters)
    for name, change in second.parameters.items():
        known = parameters.get(name)
        # Of a parameter that one of them hides, there is nothing to merge.
        if known is None or change is None:
            parameters[name] = change
            continue
        said = str(parameter_schemas(tool).get(name, {}).get("description") or "")
        parameters[name] = _prefer_first(
            known, change, description=_merge_texts(said, known.description, change.description)
        )
    return _prefer_first(
        first,
        second,
        description=_merge_texts(tool.description, first.description, second.description),
        parameters=parameters,
    )


def _prefer_first(first: _Edit, second: _Edit, **decided: Any) -> _Edit:
    """Return ``first``, with the parts of ``second`` that ``first`` does not change."""
    given = {
        field.name: getattr(second, field.name)
        for field in fields(first)
        if getattr(first, field.name) is None
    }
    return replace(first, **{**given, **decided})


def _merge_texts(before: str, first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return second if first is None else first
    # What stands behind the server's own text was added, and both additions can stay.
    added = second.removeprefix(before.strip())
    return first if added == second or added in first else f"{first}{added}"
