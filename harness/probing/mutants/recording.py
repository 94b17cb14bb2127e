"""The recorded answers by caller and call, which mutants are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from harness.base import canonical_json
from harness.judging import ComparableValue, Result, to_comparable
from harness.types import (
    Case,
    JsonObject,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
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
        found: dict[str, list[CallAnswer]] = {}
        for answer in self.answers.values():
            found.setdefault(answer.call, []).append(answer)
        return found

    def group_by_caller(self) -> Mapping[str, list[CallAnswer]]:
        """Return the answers by caller."""
        found: dict[str, list[CallAnswer]] = {}
        for answer in self.answers.values():
            found.setdefault(answer.caller, []).append(answer)
        return found

    def collect_seen_values(self, caller: str) -> frozenset[ComparableValue]:
        """Return every value that ``caller`` sent or received, so that repeating it is no leak."""
        if caller not in self._seen:
            own = [answer for answer in self.answers.values() if answer.caller == caller]
            given = [
                leaf.value
                for each in own
                if each.successful_result
                for leaf in each.successful_result.leaves
            ]
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
