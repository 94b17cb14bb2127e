"""The answers in the trials of a run; mutants of them are the answers of a faulty server.

The model's messages stay unchanged, since its reaction to other answers is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.base import canonical_json
from harness.judging import order_by_header
from harness.probing.caller_views import NO_ANSWER
from harness.probing.callers import name_callers
from harness.probing.mutants.operators import ServerMutant
from harness.probing.mutants.recording import (
    AnswerRecording,
    CallAnswer,
    Cell,
    collect_visible,
    replace_answers,
    replace_tool_list,
)
from harness.probing.planned_calls import ProbeCall
from harness.runlog import RunLog
from harness.types import Case, ToolCall, ToolList, Transcript, TrialResult

Place: TypeAlias = tuple[str, int]
"""The key of a trial, and the index of a call in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTrial:
    """A trial of a run, as recorded or rewritten."""

    result: TrialResult
    """Its result."""
    transcript: Transcript
    """Its transcript."""
    tools: ToolList
    """The list of tools for the caller."""
    case: Case | None
    """Its case; ``None`` if the suite no longer has it."""
    caller: str
    """Name of the caller."""


class RunRecording(AnswerRecording):
    """The answers in the first trial of each case of a suite."""

    def __init__(self, log: RunLog, suite: str, cases: Iterable[Case]) -> None:
        """Read the trials of ``suite`` in ``log``; ``cases`` are its cases."""
        cases = tuple(cases)
        self.header = log.header
        self.trials: dict[str, RecordedTrial] = {
            trial.result.key: trial for trial in _iterate_trials(log, suite, cases)
        }
        """Every started trial by its key."""
        # A list, since the recording takes the first of each cell and `places` needs all.
        found = [*self._iterate_answers()]
        super().__init__(found, cases)
        self.places: dict[Cell, list[Place]] = {}
        """All trials and calls that recorded the answer in `answers`."""
        for answer in found:
            if answer.visible_content == self.answers[answer.cell].visible_content:
                self.places.setdefault(answer.cell, []).append((answer.run.key, answer.place))

    def _iterate_answers(self) -> Iterator[CallAnswer]:
        for trial in self.trials.values():
            if trial.case is None or trial.case.caller.credential != "valid":
                continue  # a token with a flaw is no identity
            for place, call in enumerate(trial.transcript.tool_calls):
                if call.outcome not in NO_ANSWER:
                    made = ProbeCall(tool=call.tool, arguments=call.arguments, changes=False)
                    yield CallAnswer(
                        caller=trial.caller,
                        call=made.label,
                        tool=call.tool,
                        arguments=call.arguments,
                        run=trial.result,
                        transcript=trial.transcript,
                        tools=trial.tools,
                        place=place,
                    )

    def rewrite_trials(self, mutant: ServerMutant) -> dict[str, RecordedTrial]:
        """Return the trials that ``mutant`` changes, by their keys."""
        answers: dict[str, dict[int, ToolCall]] = {}
        lists: dict[str, ToolList] = {}
        for answer in mutant.answers:
            recorded = self.answers[answer.cell]
            if answer.result is not None and recorded.result is not None:
                call = answer.result.call
                if collect_visible(call) != collect_visible(recorded.result.call):
                    for key, place in self.places[answer.cell]:
                        answers.setdefault(key, {})[place] = call
            if answer.tools.digest != recorded.tools.digest:
                # Another list of tools shows in every trial of its caller.
                own = (key for key, one in self.trials.items() if one.caller == answer.caller)
                lists |= dict.fromkeys(own, answer.tools)
        return {
            key: _rewrite_trial(self.trials[key], answers.get(key, {}), lists.get(key))
            for key in dict.fromkeys((*answers, *lists))
        }

    def find_prompt(self, answer: CallAnswer) -> str | None:
        """Return the prompt that led to the call of ``answer``."""
        case = self.trials[answer.run.key].case
        # In a conversation no single prompt has led to the call.
        return None if case is None or case.turns else case.prompt


def _rewrite_trial(
    trial: RecordedTrial, answers: dict[int, ToolCall], tools: ToolList | None
) -> RecordedTrial:
    transcript = replace_answers(trial.transcript, answers)
    if tools is None:
        return replace(trial, transcript=transcript)
    return replace(trial, transcript=replace_tool_list(transcript, tools), tools=tools)


def _iterate_trials(log: RunLog, suite: str, cases: tuple[Case, ...]) -> Iterator[RecordedTrial]:
    callers = {canonical_json(each.user_context): each.name for each in name_callers(cases)}
    of_name = {case.name: case for case in cases}
    # In order of the run, since a recording keeps the first answer of each cell.
    for result in sorted(log.results, key=order_by_header(log.header)):
        if result.suite != suite or result.stop is None or result.trial != 1:
            continue
        transcript = log.read_transcript(result.key)
        if transcript is None:
            continue
        context = canonical_json(result.case.user_context)
        yield RecordedTrial(
            result=result,
            transcript=transcript,
            tools=log.tools.get(transcript.tools_digest) or ToolList(tools=()),
            case=of_name.get(result.case.name),
            # An identity that the suite no longer has is called by its attributes.
            caller=callers.get(context, context),
        )
