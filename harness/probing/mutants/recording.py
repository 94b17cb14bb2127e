"""What the suite's own identities were answered in a probe: what mutants are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from harness.canonical_json import canonical_json
from harness.judging.policy.comparable_values import Value, value_of
from harness.judging.policy.views import Result
from harness.probing.caller_views import (
    NO_ANSWER,
    asked,
    bases_of,
    facts_of,
    label_of,
    name_of,
)
from harness.probing.expectations import Expectations
from harness.runlog import RunLog
from harness.types import (
    Caller,
    Case,
    Check,
    JsonObject,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
)

Cell: TypeAlias = tuple[str, str]
"""Caller and call, as tables have them."""


@dataclass(frozen=True)
class Answer:
    """What one caller was answered to one call, as recorded or rewritten."""

    run: TrialResult
    """The recorded trial."""
    transcript: Transcript
    """The answer."""
    tools: ToolList
    """The tools that the caller is shown."""

    @property
    def cell(self) -> Cell:
        """Caller and call."""
        return name_of(self.run), label_of(self.run)

    @property
    def caller(self) -> str:
        """Who called."""
        return self.cell[0]

    @property
    def call(self) -> str:
        """What was called, as tables have it."""
        return self.cell[1]

    @property
    def tool(self) -> str:
        """The tool that was called."""
        return str(facts_of(self.run)["tool"])

    @property
    def arguments(self) -> JsonObject:
        """What was sent."""
        found: JsonObject = facts_of(self.run)["arguments"]
        return found

    @property
    def context(self) -> JsonObject | None:
        """The attributes of the caller."""
        return self.run.case.user_context

    @cached_property
    def result(self) -> Result | None:
        """The call and its answer; ``None`` where the session was refused."""
        calls = self.transcript.tool_calls
        return Result(call=calls[0]) if calls else None

    @property
    def good(self) -> Result | None:
        """The result, if it is no refusal and no error."""
        found = self.result
        return found if found is not None and found.call.outcome == "ok" else None

    @property
    def refused(self) -> bool:
        """Whether the server refused the call, the session, or the tool itself."""
        found = self.result
        if found is None:
            return self.transcript.refused_status is not None
        return found.call.outcome in ("denied", "unknown_tool")

    @cached_property
    def told(self) -> object:
        """What the caller can tell this answer by, in a form that can be compared."""
        shown = (self.transcript.refused_status, self.tools.digest)
        if self.result is None:
            return shown
        call = self.result.call
        return *shown, call.outcome, call.text, repr(call.structured)

    def answered(self, call: ToolCall) -> Answer:
        """Return this answer with another result."""
        opened = replace(self.transcript, tool_calls=(call,), refused_status=None, stop="answer")
        return replace(self, transcript=opened)

    def as_of(self, other: Answer) -> Answer:
        """Return what this caller is told by a server that takes it for ``other``."""
        taken = replace(
            other.transcript, tools=self.transcript.tools, tools_digest=self.tools.digest
        )
        return replace(self, transcript=taken)

    def shown(self, tools: ToolList) -> Answer:
        """Return this answer beside another list of tools."""
        names = tuple(tool.name for tool in tools.tools)
        offered = replace(self.transcript, tools=names, tools_digest=tools.digest)
        return replace(self, transcript=offered, tools=tools)


class Recording:
    """The answers of a probe, and what suites expect of them."""

    def __init__(self, log: RunLog, cases: Iterable[Case]) -> None:
        """Read the first round of ``log``; the second only repeats it."""
        self.header = log.header
        self.answers: dict[Cell, Answer] = {}
        """Whatever was answered to the suite's own identities."""
        for answer in _answers(log):
            self.answers.setdefault(answer.cell, answer)
        self.tools: dict[str, Tool] = {}
        """Every tool that any of them is shown."""
        for answer in self.answers.values():
            for tool in answer.tools.tools:
                self.tools.setdefault(tool.name, tool)
        self.cases = tuple(cases)
        """The suites' cases."""
        self._seen: dict[str, frozenset[Value]] = {}
        self._expected = Expectations(self.cases, self.tools)

    def of_call(self) -> Mapping[str, list[Answer]]:
        """Return the answers by call, callers in the suite's order."""
        found: dict[str, list[Answer]] = {}
        for answer in self.answers.values():
            found.setdefault(answer.call, []).append(answer)
        return found

    def of_caller(self) -> Mapping[str, list[Answer]]:
        """Return the answers by caller."""
        found: dict[str, list[Answer]] = {}
        for answer in self.answers.values():
            found.setdefault(answer.caller, []).append(answer)
        return found

    def seen_by(self, caller: str) -> frozenset[Value]:
        """Return every value that ``caller`` sent or was given: repeating one gives nothing."""
        if caller not in self._seen:
            own = [answer for answer in self.answers.values() if answer.caller == caller]
            given = [leaf.value for each in own if each.good for leaf in each.good.leaves]
            sent = [value for each in own for value in each.arguments.values()]
            attributes = [value for each in own for value in (each.context or {}).values()]
            values = map(value_of, (*given, *sent, *attributes))
            self._seen[caller] = frozenset(value for value in values if value is not None)
        return self._seen[caller]

    def cases_of(self, answer: Answer) -> list[Case]:
        """Return the cases that ask as the caller of ``answer``."""
        context = canonical_json(answer.context)
        return [case for case in self.cases if canonical_json(case.caller.user_context) == context]

    def can_state(self, check: Check, answer: Answer) -> bool:
        """Whether a suite that had ``check`` would hold the call of ``answer`` to it."""
        caller = Caller(user_context=answer.context)
        stated = Expectations(
            [Case(name="", prompt="", checks=(check,), caller=caller)], self.tools
        )
        return bool(stated.of(caller.user_context, answer.tool, answer.arguments))

    def checks(self, answer: Answer) -> tuple[Check, ...]:
        """Return what suites expect of a call."""
        return self._expected.of(answer.context, answer.tool, answer.arguments)

    def must_be_hidden(self, answer: Answer) -> list[str]:
        """Return the tools that suites expect to be hidden from the caller of ``answer``."""
        return self._expected.hidden_from(answer.context)


def _answers(log: RunLog) -> Iterator[Answer]:
    for run in sorted(asked(log.results), key=lambda run: run.index):
        if bases_of(run) or run.stop is None or "after" in facts_of(run):
            continue
        transcript = log.transcript(run.key)
        if transcript is None or any(call.outcome in NO_ANSWER for call in transcript.tool_calls):
            continue
        if not transcript.tool_calls and transcript.refused_status is None:
            continue
        tools = log.tools.get(transcript.tools_digest) or ToolList(tools=())
        yield Answer(run, transcript, tools)
