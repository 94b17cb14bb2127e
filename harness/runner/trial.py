"""One trial from an open door to a log line: session, conversation, checks, verdict."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace

import anyio

from harness.agent import Conversation
from harness.checks import Evidence, evaluate
from harness.checks.judge import Judge
from harness.errors import HarnessError, JudgeError, ServerError
from harness.models import Model, PerTrial
from harness.runlog import TrialLine
from harness.runner.own_costs import own_costs
from harness.runner.plan import Job
from harness.runner.preflight import Preflight
from harness.runner.scripted import ScriptedCalls
from harness.runner.verdict import run_of, unstarted_run
from harness.sessions import SessionPool
from harness.types import CheckResult, ToolList, Transcript, Trial, TrialError


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """What a trial leaves behind."""

    line: TrialLine
    """For the log."""
    tools: ToolList | None = None
    """What the user was offered, where a session came about."""


async def run_trial(
    job: Job,
    model: Model,
    pool: SessionPool,
    scope: anyio.CancelScope,
    judge: Judge | None = None,
    preflight: Preflight | None = None,
) -> TrialOutcome:
    """Run one trial under ``scope``; whatever happens, it ends in exactly one status.

    This is the boundary at which a failure of anything becomes the data of one trial.
    """
    attempt = _Attempt(job, judge or Judge({}), preflight)
    if isinstance(model, PerTrial):
        model = model.for_trial(label_of(job.trial))
    try:
        with scope:
            await attempt.make(model, pool)
    except ServerError as error:
        attempt.error = TrialError(kind="server", message=str(error), detail=error.stderr_tail or None)
    except JudgeError as error:
        attempt.error = TrialError(kind="judge", message=str(error))
    except HarnessError as error:
        attempt.error = TrialError(kind="harness", message=str(error))
    except Exception as error:  # noqa: BLE001 - a bug in one trial must not end the others
        attempt.error = TrialError(
            kind="harness",
            message=f"a fault in harness itself: {type(error).__name__}: {error}",
            detail="".join(traceback.format_exception(error)[-6:]),
        )
    return attempt.outcome()


def label_of(trial: Trial) -> str:
    """Return how a recording names a trial."""
    return f"{trial.suite}::{trial.case.name}#{trial.index}"


class _Attempt:
    """The parts of an outcome, as far as they have come about."""

    def __init__(self, job: Job, judge: Judge, preflight: Preflight | None) -> None:
        self._job = job
        self._judge = judge
        self._preflight = preflight
        self._conversation: Conversation | None = None
        self._scripted: ScriptedCalls | None = None
        self._tools: ToolList | None = None
        self._checks: tuple[CheckResult, ...] | None = None
        self.error: TrialError | None = None

    async def make(self, model: Model, pool: SessionPool) -> None:
        case = self._job.trial.case
        if self._preflight is not None:
            await self._preflight.wait(self._job)
        async with pool.session(self._job.server, case.user_context) as session:
            self._tools = session.tools
            if self._preflight is not None:
                self._preflight.check(self._job, session.tools)
            suite = self._job.suite
            price = own_costs(suite, self._job.model.name)
            self._conversation = Conversation(case, model, session, suite.system_prompt, price)
            self._scripted = ScriptedCalls(case, session)
            try:
                if await self._scripted.set_up():
                    await self._conversation.run()
            finally:
                await self._scripted.tear_down()
        transcript = self._transcript()
        if transcript.error is None:
            evidence = Evidence(case=case, transcript=transcript, tools=self._tools, judge=self._judge)
            self._checks = await evaluate(evidence)

    def _transcript(self) -> Transcript:
        assert self._conversation is not None
        assert self._scripted is not None
        return self._scripted.completed(self._conversation.transcript())

    def outcome(self) -> TrialOutcome:
        trial = self._job.trial
        if self._conversation is None:
            run = unstarted_run(trial, "cancelled" if self.error is None else "error", error=self.error)
            return TrialOutcome(line=TrialLine(run=run), tools=self._tools)
        transcript = self._transcript()
        run = run_of(trial, transcript, self._checks or (), self.error)
        run = replace(run, judge_usage=self._judge.usage, judgements=tuple(self._judge.judgements))
        if self._checks is None and run.error is None:
            run = replace(run, status="cancelled")  # interrupted while it was judged: there is no verdict
        return TrialOutcome(line=TrialLine(run=run, transcript=transcript), tools=self._tools)
