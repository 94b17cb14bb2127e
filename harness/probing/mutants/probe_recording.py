"""The answers that a probe recorded, and what suites expect of its calls."""

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
    """The answers of a probe, and what suites expect of them."""

    def __init__(self, log: RunLog, cases: Iterable[Case]) -> None:
        """Read the first round of ``log``; the second only repeats it."""
        super().__init__(_answers(log), cases)
        self.header = log.header
        self._expected = Expectations(self.cases, self.tools)

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
        if bases_of(run) or run.stop is None or is_apart(run):
            continue
        transcript = log.transcript(run.key)
        if transcript is None or any(call.outcome in NO_ANSWER for call in transcript.tool_calls):
            continue
        if not transcript.tool_calls and transcript.refused_status is None:
            continue
        yield Answer(
            caller=name_of(run),
            call=label_of(run),
            tool=str(facts_of(run)["tool"]),
            arguments=facts_of(run)["arguments"],
            run=run,
            transcript=transcript,
            tools=log.tools.get(transcript.tools_digest) or ToolList(tools=()),
        )
