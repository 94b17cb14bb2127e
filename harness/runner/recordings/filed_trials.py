"""Conversations of a file as the trials of a run, so that they are judged like those of one.

A conversation belongs to the case that it names, or else to the one that begins with exactly its
prompts. What belongs to no case, or to several, is told in the log; a case without a conversation
is an error. Several conversations of one case and model are its repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base import KNOWN, NothingToRun, digest_json, format_path, utc_now
from harness.judging import needs_session, not_judged, not_started
from harness.runlog import Footer, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.runner.launcher import build_header
from harness.runner.planning.plan import Job, RunPlan, case_label, describe_case
from harness.runner.planning.request import RunOptions
from harness.runner.recordings.conversation_files import (
    FiledConversation,
    list_prompts,
    read_conversations,
)
from harness.types import (
    Case,
    Check,
    CheckResult,
    ModelSpec,
    ServerSpec,
    Suite,
    Trial,
    TrialError,
    dataclass,
)

FILED = "conversations"
"""The setting of such a log: the file that it was made of."""
_SERVER = ServerSpec(name="not started")
_NOBODY = "recorded"
"""The model of conversations that name none."""
_MOST_TOLD = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """A case, and its conversations of one model."""

    suite: Suite
    case: Case
    model: str
    conversations: tuple[FiledConversation, ...]


def log_conversations(path: Path, suites: Sequence[Suite], folder: Path) -> RunLog:
    """Write the conversations in ``path`` to a log in ``folder``, as trials that nobody judged yet.

    Raises:
        InvalidInput: the file cannot be read, or a line is no JSON.
        NothingToRun: no conversation belongs to a case of ``suites``.
    """
    found = read_conversations(path)
    told: list[str] = []
    matched = list(_match_cases(found, suites, told))
    if not any(one.conversations for one in matched):
        words = f"no conversation in {format_path(path)} is of a case: {'; '.join(told)}"
        raise NothingToRun(words)
    trials = [pair for one in matched for pair in _plan_trials(one)]
    jobs = tuple(job for job, _ in trials)
    plan = RunPlan(jobs=jobs, settings={FILED: format_path(path)})
    log = folder / "log.jsonl"
    with LogWriter(log, KNOWN.redact_json_text) as writer:
        writer.append(build_header(plan, path.name, RunOptions(concurrency=1)))
        offered = (one.tools for _, one in trials if one is not None and one.tools is not None)
        for tools in {one.digest: one for one in offered}.values():
            writer.append(ToolsLine(server=_SERVER.name, tools=tools))
        for job, conversation in trials:
            writer.append(_build_line(job.trial, conversation, path))
        writer.append(Footer(finished_at=utc_now(), elapsed_s=0.0, told=tuple(_limit_told(told))))
    return read_log(log)


def split_case(case: Case, *, has_tools: bool) -> tuple[Case, tuple[CheckResult, ...]]:
    """Return ``case`` with the checks that a file can show, and the results of the others.

    ``has_tools``: whether the file says which tools were offered.
    """
    open_checks = [one for one in case.every_check if needs_session(one, has_tools=has_tools)]

    def keep(checks: Sequence[Check]) -> tuple[Check, ...]:
        return tuple(one for one in checks if not needs_session(one, has_tools=has_tools))

    known = keep(case.checks)
    turns = tuple(replace(turn, checks=keep(turn.checks)) for turn in case.turns)
    results = tuple(
        CheckResult(
            kind=one.kind,
            label=one.kind,
            verdict="not_judged",
            severity=one.params.get("severity", one.severity),
            explanation="A file of conversations does not show what this check needs: the list of "
            "tools, questions, resources, times",
            hint="Run the suite, and grade its run.",
            at=one.at,
        )
        for one in open_checks
    )
    return replace(case, checks=known, turns=turns), results


def _match_cases(
    found: Sequence[FiledConversation], suites: Sequence[Suite], told: list[str]
) -> Iterator[_Match]:
    """Yield each case with the conversations of each model; add to ``told`` what is left out."""
    by_case: dict[tuple[str, str], list[FiledConversation]] = {}
    for one in found:
        cases, why = _find_cases(one, suites)
        if one.problem:
            told.append(f"{one.place}: {one.problem}.")
        if len(cases) == 1:
            by_case.setdefault(cases[0], []).append(one)
        elif one.transcript is not None:
            told.append(f"{one.place} is not judged: {why}.")
    kept = [one for every in by_case.values() for one in every]
    models = list(dict.fromkeys(one.model or _NOBODY for one in kept)) or [_NOBODY]
    for suite in suites:
        for case in suite.cases:
            own = by_case.get((suite.name, case.name), [])
            for model in models:
                conversations = tuple(one for one in own if (one.model or _NOBODY) == model)
                yield _Match(suite=suite, case=case, model=model, conversations=conversations)


def _find_cases(
    one: FiledConversation, suites: Sequence[Suite]
) -> tuple[list[tuple[str, str]], str]:
    """Return the cases to which a conversation belongs, and why it is not one, in words."""
    if one.transcript is None:
        return [], one.problem
    if one.axes:  # its case alone would judge it by other rules than its run did
        return [], f"it ran under {' and '.join(one.axes)}: grade that run itself"
    every = [
        (suite.name, case)
        for suite in suites
        for case in suite.cases
        if one.suite in ("", suite.name)
        and (one.user_context is None or one.user_context == (case.caller.user_context or {}))
    ]
    for name in filter(None, (one.case, one.possible_case)):
        names = [(at, case.name) for at, case in every if name in _list_names(at, case)]
        if names or name == one.case:
            words = f"no case is named {name!r}"
            return names, words if not names else _name_several(names)
    asked = list_prompts(one.transcript)
    alike = [(at, case.name) for at, case in every if asked and asked == case.prompts]
    if alike:
        return alike, _name_several(alike)
    return [], "no case has its prompt" if asked else "its user says nothing"


def _list_names(suite: str, case: Case) -> tuple[str, str]:
    return case.name, case_label(suite, case.name)


def _name_several(cases: Sequence[tuple[str, str]]) -> str:
    return f"it may be of {' or '.join(case_label(*one) for one in cases)}"


def _plan_trials(match: _Match) -> Iterator[tuple[Job, FiledConversation | None]]:
    """Yield a job for each conversation, or one for none."""
    several: Sequence[FiledConversation | None] = match.conversations or (None,)
    model = ModelSpec(name=match.model, provider=_NOBODY, model_id=match.model)
    described = [match.suite.name, match.suite.system_prompt, describe_case(match.case)]
    for number, conversation in enumerate(several, start=1):
        trial = Trial(
            suite=match.suite.name,
            case=match.case,
            model=match.model,
            number=number,
            key=digest_json([FILED, *described, match.model, number]),
            repeats=len(several),
        )
        yield Job(trial=trial, suite=match.suite, model=model, server=_SERVER), conversation


def _build_line(trial: Trial, conversation: FiledConversation | None, path: Path) -> TrialLine:
    if conversation is None or conversation.transcript is None:
        words = f"{format_path(path)} has no conversation of this case"
        error = TrialError(kind="harness", message=words)
        return TrialLine(run=not_started(trial, "error", error=error))
    result = not_judged(trial, conversation.transcript, reason="not judged yet")
    return TrialLine(run=result, transcript=conversation.transcript)


def _limit_told(told: Sequence[str]) -> Iterator[str]:
    yield from told[:_MOST_TOLD]
    if len(told) > _MOST_TOLD:
        yield f"And {len(told) - _MOST_TOLD} more of the file's conversations."
