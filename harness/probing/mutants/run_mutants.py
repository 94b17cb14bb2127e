"""The answers in the trials of a run, and mutants of them judged.

They are the answers of a faulty server. The model's messages stay unchanged, since its reaction to
other answers is unknown. They are judged by the suite's checks, and by the search for leaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from harness.base import canonical_json
from harness.judging import (
    IDENTITY_OBSERVED,
    NO_LEAK,
    Evidence,
    RunJudge,
    View,
    build_view,
    decide_access,
    evaluate_checks,
    find_judge_needs,
    judge_by_comparison,
    order_by_header,
)
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
from harness.probing.mutants.score import KilledBy
from harness.probing.planned_calls import ProbeCall
from harness.runlog import RunLog
from harness.types import (
    Case,
    Check,
    Decision,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
    dataclass,
)

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
        trials = _iterate_trials(log, suite, cases)
        self.trials: dict[str, RecordedTrial] = {one.result.key: one for one in trials}
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


_Failing: TypeAlias = frozenset[tuple[str, str, str, int | None]]
"""Key of the trial, kind, label and turn of failed checks."""
_FOUND = frozenset({NO_LEAK, IDENTITY_OBSERVED})
"""Checks that are added without a suite's request."""


class RunMutantJudge:
    """Judges mutants as the run was judged; checks that failed before do not count.

    Checks that need a judge model are left out.
    """

    def __init__(self, recording: RunRecording) -> None:
        """Take the recorded trials; `judge_recorded` judges them."""
        self._recording = recording
        self._order = order_by_header(recording.header)
        self._results: dict[str, TrialResult] = {}
        self._views: dict[str, View] = {}
        self.decisions: Mapping[Cell, tuple[Decision, ...]] = {}
        """The server's decisions in the recorded answers."""
        self._failing: _Failing = frozenset()
        self._found: _Failing = frozenset()

    async def judge_recorded(self) -> None:
        """Judge the recorded answers."""
        for key, trial in self._recording.trials.items():
            self._results[key] = await self._judge_trial(trial)
            self._views[key] = self._build_view(trial, self._results[key])
        # Each decision is about one call, and a trial may have several.
        cells = {
            cell: replace(self._views[key], calls=(self._views[key].calls[place],))
            for cell, ((key, place), *_) in self._recording.places.items()
        }
        self.decisions = dict(zip(cells, decide_access(list(cells.values())), strict=True))
        self._failing = self._find_unexpected(self._results, self._views)
        self._found = self._search_results(self._results, self._views)

    async def find_killer(self, mutant: ServerMutant) -> KilledBy | None:
        """Return what notices ``mutant``: first the suite, then the search."""
        results, views = dict(self._results), dict(self._views)
        for key, trial in self._recording.rewrite_trials(mutant).items():
            results[key] = await self._judge_trial(trial)
            views[key] = self._build_view(trial, results[key])
        if self._find_unexpected(results, views) - self._failing:
            return "suite"
        return "search" if self._search_results(results, views) - self._found else None

    async def would_notice(self, check: Check, cell: Cell, mutant: ServerMutant) -> bool:
        """Whether the suite would notice ``mutant`` if it also had ``check`` on ``cell``."""
        if mutant.hides is not None:
            return True  # it states that the very tool is in no list of the caller
        (key, _), *_ = self._recording.places[cell]
        changed = self._recording.rewrite_trials(mutant)
        if key not in changed or await self._fails(check, self._recording.trials[key], {}):
            return False
        own = self._results
        views = {each: self._build_view(trial, own[each]) for each, trial in changed.items()}
        return await self._fails(check, changed[key], views)

    async def _fails(self, check: Check, trial: RecordedTrial, views: Mapping[str, View]) -> bool:
        assert trial.case is not None, "only trials with a case have answers"
        case = Case(name=trial.case.name, prompt="", checks=(check,), caller=trial.case.caller)
        evidence = Evidence(case=case, transcript=trial.transcript, tools=trial.tools)
        results = await evaluate_checks(evidence)
        # Only in a group are there other callers to compare with.
        if trial.result.case.group is not None:
            seen = {**self._views, **views}
            decided = dict(zip(seen, decide_access(list(seen.values())), strict=True))
            own = decided[trial.result.key]
            results = tuple(judge_by_comparison(result, own) for result in results)
        return any(result.verdict == "failed" for result in results)

    async def _judge_trial(self, trial: RecordedTrial) -> TrialResult:
        """Return a trial's result with the suite's checks; a trial without a verdict is unchanged.

        The status stays that of the recorded trial, since only failed checks count here.
        """
        result, case = trial.result, trial.case
        if case is None or result.status not in ("passed", "failed"):
            return result
        asked = _without_judge(case)
        evidence = Evidence(case=asked, transcript=trial.transcript, tools=trial.tools)
        return replace(result, checks=await evaluate_checks(evidence))

    def _build_view(self, trial: RecordedTrial, result: TrialResult) -> View:
        lists = {trial.transcript.tools_digest: trial.tools}
        return build_view(result, trial.transcript, lists, self._recording.header.suites)

    def _find_unexpected(
        self, results: Mapping[str, TrialResult], views: Mapping[str, View]
    ) -> _Failing:
        """Return the suite's failed checks; decisions of a group are compared."""
        grouped = {key: view for key, view in views.items() if results[key].case.group is not None}
        decided = dict(zip(grouped, decide_access(list(grouped.values())), strict=True))
        return _collect_failing(
            replace(
                one, checks=tuple(judge_by_comparison(each, decided[key]) for each in one.checks)
            )
            if key in decided
            else one
            for key, one in results.items()
        )

    def _search_results(
        self, results: Mapping[str, TrialResult], views: Mapping[str, View]
    ) -> _Failing:
        """Return findings that need no check of the suite: leaks, and an unobserved identity."""
        judge = RunJudge(suites=self._recording.header.suites, order=self._order)
        settled: list[TrialResult] = []
        for key, result in results.items():
            settled += judge.add_result(result, partial(views.get, key))
        settled += judge.close()
        return frozenset(each for each in _collect_failing(settled) if each[1] in _FOUND)


def _collect_failing(results: Iterable[TrialResult]) -> _Failing:
    return frozenset(
        (result.key, check.kind, check.label, check.turn)
        for result in results
        for check in result.checks
        if check.verdict == "failed" and check.severity == "fail"
    )


def _without_judge(case: Case) -> Case:
    turns = tuple(replace(turn, checks=_select_decidable(turn.checks)) for turn in case.turns)
    return replace(case, checks=_select_decidable(case.checks), turns=turns)


def _select_decidable(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    needs = ((check, find_judge_needs((check,))) for check in checks)
    return tuple(check for check, own in needs if not any(need.required for need in own))
