"""The answers that a probe recorded, and mutants of them judged.

They are judged by the suites' expectations, the search for leaks, and kept decisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.judging import (
    Evidence,
    View,
    build_view,
    decide_access,
    evaluate_checks,
    explain_unobserved,
    find_leaks,
    judge_by_comparison,
)
from harness.probing.caller_views import (
    NO_ANSWER,
    get_bases,
    get_caller_name,
    get_facts,
    get_label,
    is_apart,
    iterate_calls,
)
from harness.probing.kept_decisions import Kept, find_changes
from harness.probing.mutants.operators import ServerMutant
from harness.probing.mutants.recording import AnswerRecording, CallAnswer, Cell
from harness.probing.mutants.score import KilledBy
from harness.probing.planned_calls import Expectations
from harness.probing.report import ProbeDecision
from harness.runlog import RunLog
from harness.types import Caller, Case, Check, CheckResult, Decision, ToolList, dataclass


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


_Findings: TypeAlias = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTable:
    """Decisions that a probe is compared with: ``--expect FILE``."""

    decisions: Kept
    """Call → caller → decision in words."""
    more_only: bool = False
    """Whether only changes to more access fail."""


class ProbeJudge:
    """Judges mutants as a probe judges answers; findings on the recorded answers do not count.

    Three kinds of findings need more calls and are left out: damaged identities, flawed tokens,
    and answers that depend on the previous caller.
    """

    def __init__(self, recording: ProbeRecording, kept: KeptTable | None = None) -> None:
        """Take the recorded answers; `judge_recorded` judges them.

        ``kept``: the decisions that the probe is compared with, if any.
        """
        self._recording = recording
        self._kept = kept
        self._checked: dict[Cell, tuple[CheckResult, ...]] = {}
        self._views: dict[Cell, View] = {}
        self.decisions: Mapping[Cell, tuple[Decision, ...]] = {}
        """The server's decisions in the recorded answers."""
        self._failing: _Findings = frozenset()
        self._found: _Findings = frozenset()
        self._changed: _Findings = frozenset()

    async def judge_recorded(self) -> None:
        """Judge the recorded answers."""
        for cell, answer in self._recording.answers.items():
            checks = self._recording.list_checks(answer)
            self._checked[cell] = await self._check_answer(answer, checks)
            self._views[cell] = self._build_view(answer, self._checked[cell])
        self.decisions = _decide_views(self._views)
        listed = self._recording.answers.values()
        self._failing = self._find_unexpected(self._checked, self._views, listed)
        self._found = frozenset(self._search_views(self._views))
        self._changed = frozenset(self._find_changes(self._views))

    async def find_killer(self, mutant: ServerMutant) -> KilledBy | None:
        """Return what notices ``mutant``: first the suite, then the search, then kept decisions."""
        # Copies, in which only the answers of the mutant are others.
        checked, views = dict(self._checked), dict(self._views)
        for answer in mutant.answers:
            cell = answer.cell
            checked[cell] = await self._check_answer(answer, self._recording.list_checks(answer))
            views[cell] = self._build_view(answer, checked[cell])
        if self._find_unexpected(checked, views, mutant.answers) - self._failing:
            return "suite"
        if frozenset(self._search_views(views)) - self._found:
            return "search"
        return "kept" if frozenset(self._find_changes(views)) - self._changed else None

    async def would_notice(self, check: Check, cell: Cell, mutant: ServerMutant) -> bool:
        """Whether the suite would notice ``mutant`` if it also had ``check`` on ``cell``.

        It would not if the check fails on the recorded answers, or does not apply to this call.
        """
        if mutant.hides is not None:
            return True  # it states that the very tool is in no list of the caller
        changed = {answer.cell: answer for answer in mutant.answers}
        recorded = self._recording.answers[cell]
        if not self._recording.can_state(check, recorded):
            return False
        before = await self._fails(check, recorded, ())
        return not before and await self._fails(check, changed[cell], mutant.answers)

    async def _fails(self, check: Check, answer: CallAnswer, changed: Iterable[CallAnswer]) -> bool:
        views = dict(self._views)
        for each in changed:
            views[each.cell] = self._build_view(each, self._checked[each.cell])
        results = await self._check_answer(answer, (check,))
        decided = _decide_views(views)[answer.cell]
        return any(judge_by_comparison(result, decided).verdict == "failed" for result in results)

    async def _check_answer(
        self, answer: CallAnswer, checks: Collection[Check]
    ) -> tuple[CheckResult, ...]:
        if not checks:
            return ()
        facts = answer.run.case
        caller = Caller(user_context=facts.user_context, identity=facts.identity, group=facts.group)
        case = Case(name=facts.name, prompt="", checks=tuple(checks), caller=caller)
        evidence = Evidence(case=case, transcript=answer.transcript, tools=answer.tools)
        return await evaluate_checks(evidence)

    def _build_view(self, answer: CallAnswer, checks: tuple[CheckResult, ...]) -> View:
        lists: Mapping[str, ToolList] = {answer.transcript.tools_digest: answer.tools}
        run = replace(answer.run, checks=checks)
        return build_view(run, answer.transcript, lists, self._recording.header.suites)

    def _find_unexpected(
        self,
        checked: Mapping[Cell, Sequence[CheckResult]],
        views: Mapping[Cell, View],
        answers: Iterable[CallAnswer],
    ) -> _Findings:
        """Return the failed expectations."""
        decisions = _decide_views(views)
        failed = {
            (*cell, str(number))
            for cell, checks in checked.items()
            for number, check in enumerate(checks)
            if judge_by_comparison(check, decisions[cell]).verdict == "failed"
        }
        shown = {
            (answer.caller, tool, "listed")
            for answer in answers
            for tool in self._recording.must_be_hidden(answer)
            if tool in {each.name for each in answer.tools.tools}
        }
        return frozenset(failed | shown)

    def _find_changes(self, views: Mapping[Cell, View]) -> Iterator[tuple[str, ...]]:
        """Yield the decisions that differ from the kept decisions."""
        if self._kept is None:
            return
        table: dict[str, dict[str, ProbeDecision]] = {}
        answers = self._recording.answers
        called = {answer.tool for answer in answers.values()}
        # A tool that is called has decisions of its own.
        shown = frozenset().union(*(view.tool_names for view in views.values())) - called
        for cell, decisions in _decide_views(views).items():
            caller, call = cell
            tool = answers[cell].tool
            decision = next((decision for decision in decisions if decision.tool == tool), None)
            if decision is not None:
                table.setdefault(call, {})[caller] = ProbeDecision.from_decision(decision)
            for name in shown:
                is_listed = name in views[cell].tool_names
                listing = ProbeDecision(access="listed" if is_listed else "hidden")
                table.setdefault(name, {})[caller] = listing
        for change in find_changes(self._kept.decisions, table):
            if change.direction == "more" or not self._kept.more_only:
                yield change.caller, change.call, str(change.now)

    def _search_views(self, views: Mapping[Cell, View]) -> Iterator[tuple[str, ...]]:
        """Yield the findings that need no expectation."""
        by_caller = list(_join_views(views))
        for leak in find_leaks([view for _, view in by_caller]):
            if not leak.is_note:
                yield "leak", leak.identity, leak.tool, leak.field, leak.place, leak.value
        shown = frozenset().union(*(view.tool_names for view in views.values()))
        for caller, view in by_caller:
            for result in view.results:
                tool = result.call.tool
                if result.call.outcome == "ok" and tool in shown and tool not in view.tool_names:
                    yield "hidden_callable", caller, tool
        if explain_unobserved(views.values()) is not None:
            yield ("unobserved",)


def _decide_views(views: Mapping[Cell, View]) -> Mapping[Cell, tuple[Decision, ...]]:
    return dict(zip(views, decide_access(list(views.values())), strict=True))


def _join_views(views: Mapping[Cell, View]) -> Iterator[tuple[str, View]]:
    """Join the views of a caller's calls that have the same settings.

    So the list of tools and the messages outside of results are searched once, not per call.
    """
    alike: dict[tuple[object, ...], list[View]] = {}
    for (caller, _), view in views.items():
        masks = tuple(view.masks.items())
        rules = view.meant, view.rightful, view.refused, masks
        same: tuple[object, ...] = (caller, *rules, view.tools.digest)
        alike.setdefault(same, []).append(view)
    for same, group in alike.items():
        calls = tuple(call for view in group for call in view.calls)
        beside = tuple(aside for view in group for aside in view.beside)
        known = tuple(dict.fromkeys(text for view in group for text in view.known))
        yield str(same[0]), replace(group[0], calls=calls, beside=beside, known=known)
