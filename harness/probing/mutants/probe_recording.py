"""The answers that a probe recorded, and the suites' expectations on its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.probing.caller_views import (
    NO_ANSWER,
    get_bases,
    get_caller_name,
    get_facts,
    get_label,
    is_apart,
    iterate_calls,
)
from harness.probing.expectations import Expectations
from harness.probing.mutants.recording import AnswerRecording, CallAnswer
from harness.runlog import RunLog
from harness.types import Caller, Case, Check, ToolList


class ProbeRecording(AnswerRecording):
    """The answers of a probe, and the suites' expectations on them."""

    def __init__(self, log: RunLog, cases: Iterable[Case]) -> None:
        """Read the first round of ``log``; the second round only repeats it."""
        super().__init__(_iterate_answers(log), cases)
        self.header = log.header
        self._expected = Expectations(self.cases, self.tools)

    def can_state(self, check: Check, answer: CallAnswer) -> bool:
        """Whether ``check``, if a suite had it, would apply to the call of ``answer``."""
        caller = Caller(user_context=answer.context)
        stated = Expectations(
            [Case(name="", prompt="", checks=(check,), caller=caller)], self.tools
        )
        return bool(stated.find_checks(caller.user_context, answer.tool, answer.arguments))

    def list_checks(self, answer: CallAnswer) -> tuple[Check, ...]:
        """Return the suites' expectations on a call."""
        return self._expected.find_checks(answer.context, answer.tool, answer.arguments)

    def must_be_hidden(self, answer: CallAnswer) -> list[str]:
        """Return the tools that suites expect to be hidden from the caller of ``answer``."""
        return self._expected.list_hidden_tools(answer.context)


def _iterate_answers(log: RunLog) -> Iterator[CallAnswer]:
    # In order of the rounds, since a recording keeps the first answer of each cell.
    for result in sorted(iterate_calls(log.results), key=lambda result: result.trial):
        if get_bases(result) or result.stop is None or is_apart(result):
            continue
        transcript = log.read_transcript(result.key)
        if transcript is None or any(call.outcome in NO_ANSWER for call in transcript.tool_calls):
            continue
        if not transcript.tool_calls and transcript.refused_status is None:
            continue
        yield CallAnswer(
            caller=get_caller_name(result),
            call=get_label(result),
            tool=str(get_facts(result)["tool"]),
            arguments=get_facts(result)["arguments"],
            run=result,
            transcript=transcript,
            tools=log.tools.get(transcript.tools_digest) or ToolList(tools=()),
        )
