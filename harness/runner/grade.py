"""Judge recorded conversations by today's assertions: no model, no server, no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from harness.checks import VOCABULARY, Evidence, evaluate
from harness.errors import JudgeError
from harness.runlog import Footer, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.runner.folders import log_path, new_run_id
from harness.runner.plan import describe_suite
from harness.runner.prepare import suite_roots
from harness.runner.verdict import run_of, unstarted_run, utc_now
from harness.suites.discovery import find_suites
from harness.types import Case, CheckResult, Run, Suite, ToolList, Transcript, Trial, TrialError


def grade_run(log: RunLog, names: Sequence[str], cwd: Path) -> RunLog:
    """Judge ``log`` by the suites of those names, or those that it was made of, in a run folder of its own."""
    files = [facts["file"] for facts in log.header.suites.values() if facts.get("file")]
    suites = find_suites(names or files, suite_roots(cwd), VOCABULARY)
    return grade(log, suites, log_path(new_run_id([suite.name for suite in suites])))


def grade(log: RunLog, suites: Sequence[Suite], target: Path) -> RunLog:
    """Write to ``target`` a log of the same conversations, judged by the checks of ``suites``."""
    cases = {(suite.name, case.name): case for suite in suites for case in suite.cases}
    began = utc_now()
    header = replace(
        log.header,
        run_id=target.parent.name,
        started_at=began,
        suites={**log.header.suites, **{suite.name: describe_suite(suite) for suite in suites}},
        settings={**log.header.settings, "graded_from": log.header.run_id},
    )
    with LogWriter(target) as writer:
        writer.append(header)
        for tools in log.tools.values():
            writer.append(ToolsLine(server=next(iter(header.servers), ""), tools=tools))
        for run, transcript in log:
            case = cases.get((run.suite, run.case))
            writer.append(anyio.run(_graded, run, transcript, case, log.tools))
        footer = log.footer
        writer.append(
            Footer(
                finished_at=utc_now(),
                elapsed_s=footer.elapsed_s if footer else 0.0,
                reason=footer.reason if footer else "interrupted",
            )
        )
    return read_log(target)


async def _graded(
    run: Run, transcript: Transcript | None, case: Case | None, tools: Mapping[str, ToolList]
) -> TrialLine:
    if transcript is None or transcript.stop == "cancelled":
        return TrialLine(run=run, transcript=transcript)
    if case is None or not _same_question(case, run, transcript):
        gone = "the case is no longer in its suite" if case is None else "the case asks something else now"
        trial = Trial(suite=run.suite, case=case or _empty(run), model=run.model, index=run.index, key=run.key)
        return TrialLine(run=unstarted_run(trial, "skipped", reason=gone), transcript=transcript)
    trial = Trial(suite=run.suite, case=case, model=run.model, index=run.index, key=run.key)
    checks: tuple[CheckResult, ...] = ()
    error: TrialError | None = None
    if transcript.error is None:
        offered = tools.get(transcript.tools_digest, ToolList(tools=()))
        try:
            checks = await evaluate(Evidence(case=case, transcript=transcript, tools=offered))
        except JudgeError as fault:
            error = TrialError(kind="judge", message=str(fault))
    return TrialLine(run=run_of(trial, transcript, checks, error), transcript=transcript)


def _same_question(case: Case, run: Run, transcript: Transcript) -> bool:
    asked = transcript.messages[0] if transcript.messages else None
    return getattr(asked, "text", None) == case.prompt and case.user_context == run.user_context


def _empty(run: Run) -> Case:
    return Case(name=run.case, prompt="", checks=(), description=run.description, user_context=run.user_context)
