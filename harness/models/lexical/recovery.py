"""Recovery from a tool's error that suggests a next step in a form that a program can follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.base import canonical_json
from harness.models.lexical.arguments import fill_arguments
from harness.models.lexical.text_parsing import ParsedText
from harness.models.tool_text.actions import is_permitted
from harness.models.tool_text.ranking import IndexedTool, ToolIndex
from harness.types import JsonObject

_MEANT = re.compile(
    r"did you mean:?\s+(?:\"([^\"]+)\"|'([^']+)'|`([^`]+)`|([\w./@-]*\w))", re.IGNORECASE
)
_REFUSED = re.compile(
    r"\b(?:denied|forbidden|not "
    r"(?:allowed|permitted|authori[sz]ed)|unauthori[sz]ed|permissions?|polic(?:y|ies)"
    r"|blocked)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call that will be made, or was made."""

    tool: str
    """The tool's name."""
    arguments: JsonObject
    """The arguments that are sent."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Parameter → the user's words for its argument."""

    @property
    def key(self) -> str:
        """A key that is equal for equal calls."""
        return canonical_json([self.tool, self.arguments])


def follow_up(
    call: PlannedCall,
    error: str,
    index: ToolIndex,
    request: ParsedText,
    may_call: Callable[[IndexedTool], bool],
) -> PlannedCall | None:
    """Return the call that an error suggests, or ``None``.

    "Did you mean X?" repeats a reading call with X; an error that names another tool leads to that
    tool, if the request can fill it and permits it, and ``may_call`` says so. A refusal is
    final and never worked around.
    """
    entry = index.find_tool(call.tool)
    # First of all: a refusal may name another tool, and is to be measured, not evaded.
    if _REFUSED.search(error) or entry is None:
        return None
    return _correct_call(call, error, entry) or _follow_referral(
        call, error, index, request, may_call
    )


def _correct_call(call: PlannedCall, error: str, entry: IndexedTool) -> PlannedCall | None:
    match = _MEANT.search(error)
    # Another value of a change is not what the user ordered.
    if match is None or not entry.reads:
        return None
    meant = next(group for group in match.groups() if group is not None)
    wrong = _find_blamed(call.arguments, error)
    # The same value would fail again, without end.
    if wrong is None or meant == call.tool or call.arguments[wrong] == meant:
        return None
    return PlannedCall(
        tool=call.tool,
        arguments={**call.arguments, wrong: meant},
        said={wrong: str(call.arguments[wrong])},
    )


def _find_blamed(arguments: JsonObject, error: str) -> str | None:
    """Return the parameter whose value the error repeats, or else the only string parameter."""
    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and value}
    quoted = [name for name, value in texts.items() if value.lower() in error.lower()]
    return quoted[0] if quoted else next(iter(texts)) if len(texts) == 1 else None


def _follow_referral(
    call: PlannedCall,
    error: str,
    index: ToolIndex,
    request: ParsedText,
    may_call: Callable[[IndexedTool], bool],
) -> PlannedCall | None:
    named: list[tuple[int, IndexedTool]] = []
    for entry in index.entries:
        place = re.search(rf"(?<![\w-]){re.escape(entry.tool.name)}(?![\w-])", error)
        if (
            place is not None
            and entry.tool.name != call.tool
            and may_call(entry)
            and is_permitted(request.actions, entry.action)
        ):
            named.append((place.start(), entry))
    # In the order in which the error names them.
    for _, entry in sorted(named, key=lambda pair: pair[0]):
        filling = fill_arguments(entry, request)
        arguments: Mapping[str, Any] = filling.arguments[0]
        if arguments and not filling.missing:
            return PlannedCall(tool=entry.tool.name, arguments=arguments, said=filling.said[0])
    return None
