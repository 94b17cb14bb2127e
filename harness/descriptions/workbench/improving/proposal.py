"""Proposals (other texts for some tools), alone and combined, and the input of proposers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any, TypeVar

from harness.base import UsageError, matches_schema
from harness.descriptions.workbench.arms import Part, parameter_schemas
from harness.judging import get_kind, is_matcher, wanted_calls
from harness.runner import ShownTools, remove_sentences
from harness.types import (
    Case,
    JsonObject,
    ParameterEdit,
    Tool,
    ToolEdit,
    ToolList,
    Variant,
    dataclass,
)

_Edit = TypeVar("_Edit", ToolEdit, ParameterEdit)
_MOST = 8
"""Most calls that are considered; the reference of an end state may have any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that a case expects first."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject = field(default_factory=dict)
    """The arguments that are given as plain values; matchers are left out."""


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
        counts = Counter(one.expected.tool for one in self.failures if one.expected is not None)
        ranked = (self.find_tool(name) for name, _ in counts.most_common())
        return [tool for tool in ranked if tool is not None]


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


def combine_proposals(name: str, proposals: Sequence[Proposal], tools: Sequence[Tool]) -> Proposal:
    """Return ``proposals`` as one; where two change the same part, the first decides.

    All sentences that are added at the end of a text are kept.
    """
    own = {tool.name: tool for tool in tools}
    edits: dict[str, ToolEdit] = {}
    for proposal in proposals:
        for tool, edit in proposal.tools.items():
            edits[tool] = _merge_edits(own[tool], edits[tool], edit) if tool in edits else edit
    return Proposal(
        name=name,
        why="; ".join(proposal.name for proposal in proposals),
        tools=edits,
        by=", ".join(dict.fromkeys(proposal.by for proposal in proposals)),
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
    given = {one.name: getattr(second, one.name) for one in fields(first)}
    own = {name: value for name in given if (value := getattr(first, name)) is not None}
    return replace(first, **{**given, **own, **decided})


def _merge_texts(before: str, first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return second if first is None else first
    # What stands behind the server's own text was added, and both additions can stay.
    added = second.removeprefix(before.strip())
    return first if added == second or added in first else f"{first}{added}"


def expected_call(case: Case) -> ExpectedCall | None:
    """Return the first call that the checks of ``case`` require; ``None`` if they require none."""
    return next(iter(expected_calls(case)), None)


def expected_calls(case: Case) -> tuple[ExpectedCall, ...]:
    """Return the calls that the checks of ``case`` require; of alternatives, only the first."""
    calls = [
        ExpectedCall(
            tool=tool, arguments={name: one for name, one in given.items() if _is_plain(one)}
        )
        for tool, given in wanted_calls(case)
    ]
    choice = any(check.options or get_kind(check).order == "one_of" for check in case.every_check)
    return tuple(calls[:1] if choice else calls[:_MOST])


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not is_matcher(value) and all(map(_is_plain, value.values()))
    return all(map(_is_plain, value)) if isinstance(value, list | tuple) else True


def _wrong_parameter(tool: Tool, edit: ToolEdit) -> str | None:
    for name, change in edit.parameters.items():
        schema = parameter_schemas(tool).get(name)
        if not isinstance(schema, Mapping):
            return f"{tool.name} has no parameter {name!r}"
        if change is None:
            return f"it removes {name} of {tool.name}"
        for value in (*(change.enum or ()), *(change.examples or ()), *(change.default or ())):
            if not matches_schema(value, schema, tool.input_schema):
                return f"{value!r} is not a valid {name} of {tool.name}"
    return None


def _tool_words(tool: Tool) -> tuple[Any, ...]:
    return tool.name, tool.title, tool.description.strip(), tool.input_schema
