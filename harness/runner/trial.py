"""One trial from an open door to a log line: session, conversation, checks, verdict."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

import anyio

from harness.agent import Conversation
from harness.checks import Evidence, evaluate
from harness.errors import HarnessError, JudgeError, ServerError
from harness.models import Model, PerTrial
from harness.runlog import TrialLine
from harness.runner.plan import Job
from harness.runner.verdict import run_of, unstarted_run
from harness.sessions import SessionPool
from harness.types import CheckResult, ToolList, Trial, TrialError


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """What a trial leaves behind."""

    line: TrialLine
    """For the log."""
    tools: ToolList | None = None
    """What the user was offered, where a session came about."""


async def run_trial(job: Job, model: Model, pool: SessionPool, scope: anyio.CancelScope) -> TrialOutcome:
    """Run one trial under ``scope``; whatever happens, it ends in exactly one status.

    This is the boundary at which a failure of anything becomes the data of one trial.
    """
    attempt = _Attempt(job)
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

    def __init__(self, job: Job) -> None:
        self._job = job
        self._conversation: Conversation | None = None
        self._tools: ToolList | None = None
        self._checks: tuple[CheckResult, ...] = ()
        self.error: TrialError | None = None

    async def make(self, model: Model, pool: SessionPool) -> None:
        case = self._job.trial.case
        async with pool.session(self._job.server, case.user_context) as session:
            self._tools = session.tools
            self._conversation = Conversation(case, model, session, self._job.suite.system_prompt)
            await self._conversation.run()
        transcript = self._conversation.transcript()
        if transcript.error is None:
            self._checks = await evaluate(Evidence(case=case, transcript=transcript, tools=self._tools))

    def outcome(self) -> TrialOutcome:
        trial = self._job.trial
        if self._conversation is None:
            run = unstarted_run(trial, "cancelled" if self.error is None else "error", error=self.error)
            return TrialOutcome(line=TrialLine(run=run), tools=self._tools)
        transcript = self._conversation.transcript()
        run = run_of(trial, transcript, self._checks, self.error)
        return TrialOutcome(line=TrialLine(run=run, transcript=transcript), tools=self._tools)
