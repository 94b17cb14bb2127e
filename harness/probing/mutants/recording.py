"""The recorded answers by caller and call, which mutants are made of, and how they are rewritten.

To a result, fields of a more complete one are added, or a value under another name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

from harness.base import canonical_json
from harness.judging import ComparableValue, Leaf, Result, compare_results, to_comparable
from harness.probing.caller_views import group_by
from harness.types import (
    Case,
    JsonObject,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
    dataclass,
)

Cell: TypeAlias = tuple[str, str]
"""Caller and call by their names in tables."""


@dataclass(frozen=True, kw_only=True)
class CallAnswer:
    """The answer to one call of one caller, as recorded or rewritten."""

    caller: str
    """Name of the caller."""
    call: str
    """Name of the call in tables."""
    tool: str
    """The tool that was called."""
    arguments: JsonObject
    """The arguments of the call."""
    run: TrialResult
    """The recorded trial."""
    transcript: Transcript
    """The transcript of the trial."""
    tools: ToolList
    """The list of tools for the caller."""
    place: int = 0
    """The index of the call in the transcript."""

    @property
    def cell(self) -> Cell:
        """Caller and call."""
        return self.caller, self.call

    @property
    def context(self) -> JsonObject | None:
        """The attributes of the caller."""
        return self.run.case.user_context

    @cached_property
    def result(self) -> Result | None:
        """The call and its answer; ``None`` if the session was refused."""
        calls = self.transcript.tool_calls
        return Result(call=calls[self.place]) if calls else None

    @property
    def successful_result(self) -> Result | None:
        """The result, if the call succeeded."""
        found = self.result
        return found if found is not None and found.call.outcome == "ok" else None

    @property
    def is_refused(self) -> bool:
        """Whether the server refused the call, the session, or the tool itself."""
        found = self.result
        if found is None:
            return self.transcript.refused_status is not None
        return found.call.outcome in ("denied", "unknown_tool")

    @cached_property
    def visible_content(self) -> object:
        """Everything that the caller sees of this answer, in a form that can be compared."""
        shown = (self.transcript.refused_status, self.tools.digest)
        return shown if self.result is None else (*shown, *collect_visible(self.result.call))

    def replace_result(self, call: ToolCall) -> CallAnswer:
        """Return this answer with the result of ``call``."""
        return replace(self, transcript=replace_answers(self.transcript, {self.place: call}))

    def impersonate(self, other: CallAnswer) -> CallAnswer:
        """Return the answer of a server that mistakes this caller for ``other``'s."""
        if self.result is not None and other.result is not None:
            return self.replace_result(other.result.call)
        # The caller keeps its own list: a fault of the answers does not change that.
        taken = replace(
            other.transcript, tools=self.transcript.tools, tools_digest=self.tools.digest
        )
        return replace(self, transcript=taken)

    def replace_tools(self, tools: ToolList) -> CallAnswer:
        """Return this answer with another list of tools."""
        return replace(self, transcript=replace_tool_list(self.transcript, tools), tools=tools)


def collect_visible(call: ToolCall) -> tuple[object, ...]:
    """Return everything that a caller sees of an answer, in a form that can be compared."""
    # As text, which can be hashed, and tells 1 from true.
    return call.outcome, call.text, repr(call.structured)


def replace_answers(transcript: Transcript, answers: Mapping[int, ToolCall]) -> Transcript:
    """Return ``transcript`` with other answers, by the index of the call.

    They turn a refused session into an open one.
    """
    calls = list(transcript.tool_calls)
    for place, call in answers.items():
        # A refused session has no call yet.
        if place == len(calls):
            calls.append(call)
            continue
        # When the call was made, and in which reply, stays true: only the answer is another.
        own = calls[place]
        calls[place] = replace(
            call, reply=own.reply, request_id=own.request_id, started_s=own.started_s
        )
    stop = transcript.stop if transcript.refused_status is None else "answer"
    return replace(transcript, tool_calls=tuple(calls), refused_status=None, stop=stop)


def replace_tool_list(transcript: Transcript, tools: ToolList) -> Transcript:
    """Return ``transcript`` with the list ``tools``."""
    names = tuple(tool.name for tool in tools.tools)
    return replace(transcript, tools=names, tools_digest=tools.digest)


class AnswerRecording:
    """The answers of a run, and the suites' cases."""

    def __init__(self, answers: Iterable[CallAnswer], cases: Iterable[Case]) -> None:
        """Take the first of ``answers`` for each caller and call."""
        self.answers: dict[Cell, CallAnswer] = {}
        """The answers to the suite's own identities, by caller and call."""
        for answer in answers:
            self.answers.setdefault(answer.cell, answer)
        self.tools: dict[str, Tool] = {}
        """Every listed tool by name."""
        for answer in self.answers.values():
            for tool in answer.tools.tools:
                self.tools.setdefault(tool.name, tool)
        self.cases = tuple(cases)
        """The suites' cases."""
        self._seen: dict[str, frozenset[ComparableValue]] = {}

    def group_by_call(self) -> Mapping[str, list[CallAnswer]]:
        """Return the answers by call; callers are in the suite's order."""
        return group_by(lambda answer: answer.call, self.answers.values())

    def group_by_caller(self) -> Mapping[str, list[CallAnswer]]:
        """Return the answers by caller."""
        return group_by(lambda answer: answer.caller, self.answers.values())

    def collect_seen_values(self, caller: str) -> frozenset[ComparableValue]:
        """Return every value that ``caller`` sent or received, so that repeating it is no leak."""
        if caller not in self._seen:
            own = [answer for answer in self.answers.values() if answer.caller == caller]
            results = (each.successful_result for each in own)
            given = [leaf.value for result in results if result for leaf in result.leaves]
            sent = [value for each in own for value in each.arguments.values()]
            attributes = [value for each in own for value in (each.context or {}).values()]
            values = map(to_comparable, (*given, *sent, *attributes))
            self._seen[caller] = frozenset(value for value in values if value is not None)
        return self._seen[caller]

    def find_cases(self, answer: CallAnswer) -> list[Case]:
        """Return the cases of the caller of ``answer``; the case that recorded it comes first."""
        context = canonical_json(answer.context)
        own = [case for case in self.cases if canonical_json(case.caller.user_context) == context]
        return sorted(own, key=lambda case: case.name != answer.run.case.name)

    def find_prompt(self, answer: CallAnswer) -> str | None:
        """Return the prompt that led to the call of ``answer``, if there is one."""
        return None


def find_withheld(own: Result, full: Result) -> dict[str, str]:
    """Return the fields that ``full`` has and ``own`` withholds: path → ``left out``, ``masked``.

    Fields of rows that are left out completely are not included.
    """
    return {leaf.path: how for leaf, how, _ in compare_results(full, own) if how != "row left out"}


def find_most_distinctive(leaves: Iterable[Leaf], known: Container[ComparableValue]) -> Leaf | None:
    """Return the field with the most recognisable value that is not ``known``."""
    graded = [
        (value.grade, len(value.text), leaf)
        for leaf in leaves
        # Grade 0 is left out: such a value may be anywhere by chance, so nobody would notice it.
        if (value := to_comparable(leaf.value)) is not None and value.grade and value not in known
    ]
    return max(graded, key=lambda each: each[:2])[2] if graded else None


def add_fields(
    own: Result, full: Result, paths: Collection[str], *, first_only: bool = False
) -> ToolCall:
    """Return the call of ``own`` with the fields at ``paths`` from ``full``.

    ``first_only``: only in the first record of each list.
    """
    filled = _FieldFiller(paths, first_only=first_only)
    call = own.call
    # A faulty server would show it in both forms of the result.
    if call.structured is not None and full.call.structured is not None:
        call = replace(call, structured=filled.fill_value(call.structured, full.call.structured))
    if not own.is_prose and not full.is_prose:
        call = _replace_text(call, own, filled.fill_value(own.text_json, full.text_json))
    elif call.structured is None:
        lines = [f"{leaf.name}: {leaf.value}" for leaf in full.leaves if leaf.path in paths]
        call = replace(call, text="\n".join([call.text, *(lines[:1] if first_only else lines)]))
    return call


def add_row(own: Result, full: Result) -> ToolCall:
    """Return the call of ``own`` with one more record of a list from ``full``."""
    call = own.call
    if call.structured is not None and full.call.structured is not None:
        call = replace(call, structured=_add_list_item(call.structured, full.call.structured))
    if not own.is_prose and not full.is_prose:
        call = _replace_text(call, own, _add_list_item(own.text_json, full.text_json))
    return call


def add_value(own: Result, name: str, value: Any) -> ToolCall:
    """Return the call of ``own`` with ``value`` added under ``name``."""
    call = own.call
    if call.structured is not None:
        call = replace(call, structured=_insert_value(call.structured, name, value))
    if own.is_prose:
        return replace(call, text=f"{call.text}\n{name}: {value}")
    longer = _insert_value(own.text_json, name, value)
    return replace(call, text=json.dumps(longer, ensure_ascii=False))


def _replace_text(call: ToolCall, own: Result, shown: Any) -> ToolCall:
    """Return ``call`` with ``shown`` as its text, unless the text already says the same."""
    # A text that already says the same keeps its layout.
    same = shown == own.text_json
    return call if same else replace(call, text=json.dumps(shown, ensure_ascii=False))


def _insert_value(document: Any, name: str, value: Any) -> Any:
    if isinstance(document, Mapping):
        return {**document, name: value}
    if isinstance(document, list | tuple) and document and isinstance(document[0], Mapping):
        return [{**document[0], name: value}, *document[1:]]
    return [*document, value] if isinstance(document, list | tuple) else {name: value}


class _FieldFiller:
    """Copies fields of a more complete document into another one of the same call."""

    def __init__(self, paths: Collection[str], *, first_only: bool) -> None:
        self._paths = paths
        self._first_only = first_only

    def fill_value(self, own: Any, full: Any, path: str = "") -> Any:
        if isinstance(own, Mapping) and isinstance(full, Mapping):
            filled = dict(own)
            for key, theirs in full.items():
                inner = f"{path}.{key}" if path else str(key)
                if key in own:
                    filled[key] = self.fill_value(own[key], theirs, inner)
                elif self._has_path(inner):
                    filled[key] = theirs
            return filled
        if isinstance(own, list | tuple) and isinstance(full, list | tuple):
            inner = f"{path}[]"
            pairs = [(item, _find_partner(item, n, own, full)) for n, item in enumerate(own)]
            last = 1 if self._first_only else len(pairs)
            return [
                self.fill_value(item, twin, inner) if place < last else item
                for place, (item, twin) in enumerate(pairs)
            ]
        return full if path in self._paths and not isinstance(full, Mapping) else own

    def _has_path(self, path: str) -> bool:
        below = (f"{path}.", f"{path}[]")
        return any(each == path or each.startswith(below) for each in self._paths)


def _find_partner(item: Any, place: int, own: Any, full: Any) -> Any:
    """Return the record of ``full`` that corresponds to ``item`` of ``own``."""
    # In lists of equal length no row is left out, so that the order is the same.
    if len(own) == len(full) or not isinstance(item, Mapping):
        return full[place] if place < len(full) else item
    return max(full, key=lambda other: _count_equal_fields(item, other), default=item)


def _count_equal_fields(item: Mapping[str, Any], other: Any) -> int:
    """Return the number of equal fields of two records."""
    if not isinstance(other, Mapping):
        return -1
    return sum(key in other and other[key] == value for key, value in item.items())


def _add_list_item(own: Any, full: Any) -> Any:
    if isinstance(own, Mapping) and isinstance(full, Mapping):
        for key, value in own.items():
            longer = _add_list_item(value, full[key]) if key in full else value
            if longer != value:
                return {**own, key: longer}
        return own
    if isinstance(own, list | tuple) and isinstance(full, list | tuple) and len(own) < len(full):
        twins = [_find_partner(item, place, own, full) for place, item in enumerate(own)]
        # If all records are twins of others, they are equal, and any of them is one more.
        return [*own, next((item for item in full if item not in twins), full[-1])]
    return own
