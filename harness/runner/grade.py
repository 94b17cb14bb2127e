"""Judges recorded conversations again: no tested model, no server, no cost except a judge's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from harness.base import (
    GATE,
    KNOWN,
    HarnessError,
    InvalidInput,
    JudgeError,
    UsageError,
    format_path,
    utc_now,
)
from harness.judging import (
    VOCABULARY,
    Evidence,
    Judge,
    JudgeModel,
    checks_with,
    evaluate_checks,
    judge_trial,
    not_started,
)
from harness.runlog import Footer, LogWriter, RunLog, TrialLine, log_path, new_run_id, read_log
from harness.runner.planning.model_choice import JudgePanel, choose_judges
from harness.runner.planning.plan import describe_suite
from harness.runner.planning.prepare import suite_roots
from harness.runner.preflight.named_tools import (
    build_unoffered_problem,
    collect_titles,
    has_tools_per_case,
    iterate_named_tools,
    sorted_problems,
)
from harness.runner.recordings.filed_trials import FILED, log_conversations, split_case
from harness.runner.run_context import open_models
from harness.runner.variants.shown_tools import build_presentation, read_logged_variant
from harness.suites import (
    NO_LIMIT,
    decode_attack,
    find_suites,
    load_config,
    make_reader,
    put_under_attack,
)
from harness.types import (
    Caller,
    Case,
    Check,
    CheckResult,
    ErrorKind,
    JsonObject,
    ScriptedCall,
    Suite,
    ToolCall,
    ToolList,
    Transcript,
    Trial,
    TrialError,
    TrialResult,
    Turn,
    UserMessage,
    dataclass,
)


def grade_run(
    log: RunLog, names: Sequence[str], cwd: Path, judge_model: str | None = None
) -> RunLog:
    """Judge ``log`` by the named suites, or by those of its run, and write a new run folder.

    Verdicts of judges are reused from ``log``. Missing ones come from ``judge_model`` if one is
    named; otherwise they stay missing.

    Raises:
        UsageError: there is no such suite or judge, a suite is invalid, or it names a tool that
            no user was offered.
    """
    suites = load_suites(log, names, cwd)
    _check_names(log, suites)
    return _grade_with(judge_model, log, suites, cwd)


def grade_conversations(
    path: Path, names: Sequence[str], cwd: Path, judge_model: str | None = None
) -> RunLog:
    """Judge the conversations in the file at ``path`` by the named suites, as `grade_run` does.

    What was left out of the file is in the footer of the log (`Footer.told`).

    Raises:
        UsageError: no suite is named, there is no such suite or judge, or a suite is invalid.
        InvalidInput: the file cannot be read.
        NothingToRun: no conversation is of a case of the suites.
    """
    if not names:
        message = f"{format_path(path)} has conversations, and names no suite to judge them by"
        raise UsageError(message, meant="Name it: harness grade FILE SUITE.")
    suites = _find_suites(names, cwd)
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        log = log_conversations(path, suites, Path(folder))
        return _grade_with(judge_model, log, suites, cwd)


def _grade_with(judge_model: str | None, log: RunLog, suites: Sequence[Suite], cwd: Path) -> RunLog:
    bench = (
        None
        if judge_model is None
        else choose_judges(suites, judge_model, load_config(cwd, os.environ))
    )
    # Conversations are sent to judges alone; nothing else is started or asked.
    GATE.require_plan((), () if bench is None else bench.models)
    return grade_log(log, suites, log_path(new_run_id([suite.name for suite in suites])), bench)


def _find_suites(names: Sequence[str], cwd: Path) -> list[Suite]:
    found = list(find_suites(names, suite_roots(cwd), VOCABULARY, make_reader(NO_LIMIT)))
    KNOWN.add_specs(suites=found)
    return found


def load_suites(log: RunLog, names: Sequence[str], cwd: Path) -> list[Suite]:
    """Return the named suites, or those of ``log`` as they are now.

    Raises:
        UsageError: there is no such suite, or it is invalid.
    """
    logged = log.header.suites
    origins = [facts.get("reference") or facts.get("file") for facts in logged.values()]
    names = names or [origin for origin in origins if origin]
    found = _find_suites(names, cwd)
    # A CSV dataset has the name that its file has in the log.
    tables = {facts.get("file"): name for name, facts in logged.items()}
    return [
        replace(suite, name=tables.get(suite.at.file, suite.name))
        if suite.at and suite.at.file.endswith(".csv")
        else suite
        for suite in found
    ]


def _check_names(log: RunLog, suites: Sequence[Suite]) -> None:
    """Refuse tool names that no list in ``log`` has: a misspelt prohibition would always pass.

    Raises:
        InvalidInput: the error names all of them. A log without tool lists, such as one of recorded
          outputs, cannot be checked, nor one of a file, of which some conversations have a list.
    """
    if FILED in log.header.settings:
        return
    # Titles, because a suite may name a tool by what its title says: the message then has the name.
    known = {
        name: title for tools in log.tools.values() for name, title in collect_titles(tools).items()
    }
    asked = {(result.suite, result.case.name) for result in log.results}
    problems = [
        build_unoffered_problem(
            named, "no list of tools in this log has a", known, may_say_absent=True
        )
        for suite in suites
        for case in suite.cases
        if (suite.name, case.name) in asked and not has_tools_per_case(case)
        for named in iterate_named_tools(case)
        if named.tool not in known and not named.allow_absent
    ]
    if problems and known:
        raise InvalidInput(sorted_problems(problems))


def redact_case(case: Case) -> Case:
    """Return ``case`` redacted like a log: a check for a password matches the log's placeholder."""

    def redact_check(check: Check) -> Check:
        return replace(check, params=KNOWN.redact_json(check.params))

    def redact_checks(checks: Sequence[Check]) -> tuple[Check, ...]:
        return tuple(check.transform(redact_check) for check in checks)

    def redact_calls(calls: Sequence[ScriptedCall]) -> tuple[ScriptedCall, ...]:
        return tuple(replace(one, arguments=KNOWN.redact_json(one.arguments)) for one in calls)

    def redact_turn(turn: Turn) -> Turn:
        prompt = KNOWN.redact_text(turn.prompt)
        return replace(
            turn,
            prompt=prompt,
            checks=redact_checks(turn.checks),
            calls=redact_calls(turn.calls),
        )

    return replace(
        case,
        prompt=KNOWN.redact_text(case.prompt),
        checks=redact_checks(case.checks),
        turns=tuple(map(redact_turn, case.turns)),
        setup=redact_calls(case.setup),
        teardown=redact_calls(case.teardown),
        caller=replace(case.caller, user_context=KNOWN.redact_json(case.caller.user_context)),
    )


def grade_log(
    log: RunLog, suites: Sequence[Suite], target: Path, bench: JudgePanel | None = None
) -> RunLog:
    """Write a log of the same conversations to ``target``, judged by the checks of ``suites``.

    Without a ``bench``, the judges of ``log`` count, and no judge is asked again.
    """
    grading = _Grading(
        log=log,
        cases={
            (suite.name, case.name): redact_case(case) for suite in suites for case in suite.cases
        },
        bench=bench or JudgePanel(default_of=dict(log.header.settings.get("judge", {}))),
    )
    began, then = utc_now(), log.header
    settings = {**then.settings, **grading.bench.build_settings(), "graded_from": then.run_id}
    header = replace(
        then,
        run_id=target.parent.name,
        started_at=began,
        suites={**then.suites, **{suite.name: describe_suite(suite) for suite in suites}},
        settings=settings,
    )
    KNOWN.add_specs(models=grading.bench.models, environ=os.environ)
    with LogWriter(target, KNOWN.redact_json_text) as writer:
        writer.append(header)
        for line in log.tools_lines:
            writer.append(line)
        anyio.run(grading.write_trials, writer)
        # A log that was cut off stays that of an interrupted run.
        footer = log.footer or Footer(finished_at="", elapsed_s=0.0, reason="interrupted")
        same_words = all(
            facts.get("digest") == then.suites.get(suite, {}).get("digest")
            for suite, facts in header.suites.items()
        )
        writer.append(
            Footer(
                finished_at=utc_now(),
                elapsed_s=footer.elapsed_s,
                reason=footer.reason,
                # With the same checks, the status cannot be better than before.
                fault=footer.fault if same_words else None,
                told=footer.told,
            )
        )
    return read_log(target)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grading:
    """A log that is being judged again."""

    log: RunLog
    cases: Mapping[tuple[str, str], Case]
    bench: JudgePanel

    @property
    def _is_filed(self) -> bool:
        """Whether the conversations are those of a file."""
        return FILED in self.log.header.settings

    async def write_trials(self, writer: LogWriter) -> None:
        """Append every trial of the log, judged again."""
        async with open_models(self.bench.models) as models:
            judges = {name: JudgeModel(name, model) for name, model in models.items()}
            for result, transcript in self.log:
                graded = await self._grade_trial(result, transcript, judges)
                writer.append(TrialLine(run=graded, transcript=transcript))

    async def _grade_trial(
        self, result: TrialResult, transcript: Transcript | None, judges: Mapping[str, JudgeModel]
    ) -> TrialResult:
        # There is nothing that other checks could judge otherwise: the result stays as it is.
        if transcript is None or transcript.stop == "cancelled":
            return result
        # Neither a conversation, nor a refused connection.
        if not transcript.messages and transcript.stop != "not_admitted":
            return result
        variant: JsonObject = self.log.header.axes.get("variant", {}).get(
            result.axes.get("variant", ""), {}
        )
        case = self.cases.get((result.suite, result.case.name))
        words = variant.get("edits", {}).get("prompts", {}).get(result.case.name)
        # A simulated user writes its own messages, so a variant has no words for it.
        if case is not None and case.user is None and words is not None:
            case = case.with_prompt(words)
        caller = Caller(user_context=result.case.user_context)
        facts = result.case
        trial = Trial(
            suite=result.suite,
            case=case
            or Case(
                name=facts.name, prompt="", checks=(), description=facts.description, caller=caller
            ),
            model=result.model,
            axes=result.axes,
            number=result.trial,
            key=result.key,
            repeats=result.repeats,
        )
        # An answer to another question is neither a pass nor a failure of this one.
        if case is None:
            reason = "the case is no longer in its suite"
            return not_started(trial, "skipped", reason=reason)
        if (other := _find_other_part(case, result, transcript)) is not None:
            words = f"the conversation has another {other} than the case"
            reason = words if self._is_filed else f"the case has another {other} now"
            return not_started(trial, "skipped", reason=reason)
        # An attack is no part of a suite: it is judged as it was.
        attack = self.log.header.axes.get("attack", {}).get(result.axes.get("attack", ""))
        if attack is not None:
            case = put_under_attack(case, decode_attack(attack["attack"]))
            trial = replace(trial, case=case)
        judge = Judge(judges, self.bench.default_of.get(result.suite), recorded=result.judgements)
        checks, error = await self._evaluate(case, transcript, variant, judge)
        graded = judge_trial(
            trial,
            transcript,
            checks,
            error,
            judge_usage=judge.usage,
            judgements=judge.judgements,
            tools=self.log.tools.get(transcript.tools_digest),
        )
        # The conversation is the last attempt at the trial; what the others used was paid, too.
        return replace(graded, usage=result.usage, user_usage=result.user_usage)

    async def _evaluate(
        self, case: Case, transcript: Transcript, variant: JsonObject, judge: Judge
    ) -> tuple[tuple[CheckResult, ...], TrialError | None]:
        """Return the results of the checks of ``case``, or why they cannot be evaluated."""
        # As in a run: a refused session is an error unless a check asks for the refusal.
        if transcript.stop == "not_admitted" and not checks_with(
            "judges_refused_session", case.every_check
        ):
            words = f"the server refused this caller: {transcript.refused_words}"
            return (), TrialError(kind="server", message=words)
        if transcript.error is not None:
            return (), None
        # Checks that look tools up would be judged by an empty list.
        if self.log.damaged and transcript.tools_digest not in ("", *self.log.tools):
            words = "the tool list of this trial was on a damaged line of the log"
            return (), TrialError(kind="harness", message=words)
        offered = self.log.tools.get(transcript.tools_digest, ToolList(tools=()))
        # What the model saw of these tools under its variant, if it had one.
        shown, edits = self.log.shown.get(transcript.shown_digest), read_logged_variant(variant)
        presented = build_presentation(edits, offered, shown.tools) if edits and shown else None
        evidence = Evidence(
            case=case, transcript=transcript, tools=offered, presented=presented, judge=judge
        )
        judged = case
        unknown: tuple[CheckResult, ...] = ()
        if self._is_filed:
            judged, unknown = split_case(case, has_tools=bool(transcript.tools_digest))
        try:
            return (*await evaluate_checks(replace(evidence, case=judged)), *unknown), None
        except HarnessError as fault:
            kind: ErrorKind = "judge" if isinstance(fault, JudgeError) else "harness"
            return (), TrialError(kind=kind, message=str(fault))


def _find_other_part(case: Case, result: TrialResult, transcript: Transcript) -> str | None:
    """Return the part of ``case`` that ``transcript`` does not fit, as far as it went."""
    said = (message for message in transcript.messages if isinstance(message, UserMessage))
    asked = tuple(message.text for message in said if not message.injected)
    came_through = transcript.stop in ("answer", "refusal")
    # Turns that were never reached may be others by now.
    prompts = case.prompts if came_through else case.prompts[: len(asked)]
    # A simulated user may write anything.
    if case.user is None and asked != prompts:
        return "prompt"
    if _list_calls(transcript.setup_calls) != _list_calls(case.setup):
        return "setup"
    if case.calls and _list_calls(transcript.tool_calls) != _list_calls(case.calls):
        return "list of calls"
    return None if case.caller.user_context == result.case.user_context else "user_context"


def _list_calls(calls: Iterable[ScriptedCall | ToolCall]) -> list[tuple[str, JsonObject]]:
    return [(call.tool, call.arguments) for call in calls]
