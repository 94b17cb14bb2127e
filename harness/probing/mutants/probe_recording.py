"""The answers that a probe recorded, and the suites' expectations on its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.probing.caller_views import (
    NO_ANSWER,
    asked,
    bases_of,
    facts_of,
    is_apart,
    label_of,
    name_of,
)
from harness.probing.expectations import Expectations
from harness.probing.mutants.recording import Answer, Recording
from harness.runlog import RunLog
from harness.types import Caller, Case, Check, ToolList


class ProbeRecording(Recording):
    """The answers of a probe, and the suites' expectations on them."""

    def __init__(self, log: RunLog, cases: Iterable[Case]) -> None:
        """Read the first round of ``log``; the second round only repeats it."""
        super().__init__(_answers(log), cases)
        self.header = log.header
        self._expected = Expectations(self.cases, self.tools)

    def can_state(self, check: Check, answer: Answer) -> bool:
        """Whether ``check``, if a suite had it, would apply to the call of ``answer``."""
        caller = Caller(user_context=answer.context)
        stated = Expectations(
            [Case(name="", prompt="", checks=(check,), caller=caller)], self.tools
        )
        return bool(stated.of(caller.user_context, answer.tool, answer.arguments))

    def checks(self, answer: Answer) -> tuple[Check, ...]:
        """Return the suites' expectations on a call."""
        return self._expected.of(answer.context, answer.tool, answer.arguments)

    def must_be_hidden(self, answer: Answer) -> list[str]:
        """Return the tools that suites expect to be hidden from the caller of ``answer``."""
        return self._expected.hidden_from(answer.context)


def _answers(log: RunLog) -> Iterator[Answer]:
    for result in sorted(asked(log.results), key=lambda result: result.index):
        if bases_of(result) or result.stop is None or is_apart(result):
            continue
        transcript = log.transcript(result.key)
        if transcript is None or any(call.outcome in NO_ANSWER for call in transcript.tool_calls):
            continue
        if not transcript.tool_calls and transcript.refused_status is None:
            continue
        yield Answer(
            caller=name_of(result),
            call=label_of(result),
            tool=str(facts_of(result)["tool"]),
            arguments=facts_of(result)["arguments"],
            run=result,
            transcript=transcript,
            tools=log.tools.get(transcript.tools_digest) or ToolList(tools=()),
        )
