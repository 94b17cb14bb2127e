"""One trial: session, conversation, checks, verdict, log line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from harness.base import HarnessError, JudgeError, NotAdmitted, ServerError, utc_now
from harness.judging import Evidence, Judge, evaluate, judge_trial, knows_refusal, not_started
from harness.models import Model, PerTrial
from harness.runlog import TrialLine
from harness.runner.agent import Conversation, Interrupted, Strategy, Watched
from harness.runner.agents.asking import AskingServers
from harness.runner.agents.conversation import AgentConversation
from harness.runner.leaderboard_strategy import ByRules, contexts
from harness.runner.leave import with_leave
from harness.runner.planning.plan import Job
from harness.runner.planning.user_models import Player
from harness.runner.preflight.no_tools import require_tools
from harness.runner.preflight.preflight import Preflight
from harness.runner.recordings.recorded_outputs import UNRECORDED, RecordedModel
from harness.runner.recordings.replay_on_server import carried_out, replay_check
from harness.runner.scripted_calls import ScriptedCalls
from harness.runner.server_state.end_state import EndStates, read_states
from harness.runner.suite_costs import own_costs
from harness.runner.users import Speaker, speaker
from harness.runner.variants import clients as client_side
from harness.runner.variants.model import VariantModel
from harness.runner.variants.presented import PresentedSession
from harness.runner.variants.session import VariantSession
from harness.runner.variants.shown import ShownTools
from harness.runner.variants.views import Views
from harness.sessions import Session, SessionPool, TracedSession, TraceIds, bounded, operators_log
from harness.suites import CarriedOut
from harness.types import (
    AgentSpec,
    Aside,
    Case,
    CheckResult,
    Interruption,
    Presentation,
    StateReading,
    Status,
    ToolList,
    Transcript,
    Trial,
    TrialError,
    Variant,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """The outcome of a trial."""

    line: TrialLine
    """The line for the log."""
    tools: ToolList | None = None
    """The tool list that the user was offered, if a session was opened."""
    shown: ToolList | None = None
    """The tool list that the model saw instead, under a variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Objects that the trials of one run share, in addition to models and sessions."""

    judge: Judge = field(default_factory=lambda: Judge({}))
    """Grades what no assertion can decide, for this trial."""
    preflight: Preflight | None = None
    """The check of all tools before the first trial."""
    player: Player | None = None
    """Plays the simulated user, if the case has one."""
    end_states: EndStates = field(default_factory=EndStates)
    """The states after reference calls, each read once."""
    views: Views = field(default_factory=Views)
    """The tool lists that models see under variants."""
    traced_as: str | None = None
    """The name of the run, if its calls carry trace context; ``None``: they carry none."""
    asking: AskingServers = field(default_factory=AskingServers)
    """The servers with the client capabilities of agents."""
    tell: Callable[[Trial, Transcript], None] | None = None
    """Called with the conversation so far, after each of its steps; ``None`` if not needed."""


async def run_trial(
    job: Job,
    model: Model,
    pool: SessionPool,
    scope: anyio.CancelScope,
    support: Support | None = None,
) -> TrialOutcome:
    """Run one trial under ``scope``; whatever happens, it ends with exactly one status.

    This is the boundary where any failure becomes the result of one trial.
    """
    attempt = _Attempt(job, support or Support(), plays_back=isinstance(model, PerTrial))
    if isinstance(model, PerTrial):
        model = model.for_trial(label_of(job.trial))
    try:
        with scope:
            await attempt.make(model, pool)
    except Exception as error:  # noqa: BLE001 - a bug in one trial must not end the others
        attempt.error = trial_error(error)
    return attempt.outcome()


def trial_error(error: Exception) -> TrialError:
    """Return ``error`` as that of a trial, with the party at fault."""
    while isinstance(error, ExceptionGroup):  # of calls made at the same time
        error = error.exceptions[0]
    if isinstance(error, ServerError):
        return TrialError(kind=error.fault, message=str(error), detail=error.stderr_tail or None)
    if isinstance(error, HarnessError):
        return TrialError(
            kind="judge" if isinstance(error, JudgeError) else "harness", message=str(error)
        )
    return TrialError(
        kind="harness",
        message=f"a fault in harness itself: {type(error).__name__}: {error}",
        detail="".join(traceback.format_exception(error)[-6:]),
    )


def _strategy(case: Case, sessions: Mapping[int, Session]) -> Strategy:
    """Return the strategy for ``case``; ``sessions`` has the session to use from each turn on."""
    if case.interruption != Interruption():
        return Interrupted(case.interruption)
    return ByRules(case.leaderboard, sessions)


def label_of(trial: Trial) -> str:
    """Return the name of a trial in a recording."""
    return f"{trial.suite}::{trial.case.name}#{trial.index}"


class _Attempt:
    """The parts of an outcome, as far as they are known."""

    def __init__(self, job: Job, support: Support, *, plays_back: bool) -> None:
        self._job = job
        self._judge = support.judge
        self._preflight = support.preflight
        self._player = support.player
        self._end_states = support.end_states
        self._views = support.views
        self._asking = support.asking
        self._traced_as = support.traced_as
        self._tell = support.tell
        self._plays_back = plays_back
        self._shown: ToolList | None = None
        self._presented: Presentation | None = None
        self._beside: tuple[Aside, ...] = ()
        self._states: tuple[StateReading, ...] = ()
        self._conversation: Conversation | AgentConversation | None = None
        self._scripted: ScriptedCalls | None = None
        self._tools: ToolList | None = None
        self._checks: tuple[CheckResult, ...] | None = None
        self._recorded: Transcript | None = None
        self._unrecorded = False
        self._replay: tuple[CheckResult, ...] = ()
        self.error: TrialError | None = None

    async def make(self, model: Model, pool: SessionPool) -> None:
        if isinstance(model, RecordedModel):
            self._recorded = model.transcript(self._job.trial)
            self._unrecorded = self._recorded is None
            if self._recorded is not None and model.carried_out is not None:
                await self._carry_out(self._recorded, model.carried_out, pool)
        else:
            await self._converse_unless_refused(model, pool)
        if not self._unrecorded:
            await self._judge_it()

    async def _converse_unless_refused(self, model: Model, pool: SessionPool) -> None:
        try:
            await self._converse(model, pool)
        except NotAdmitted as error:
            if not knows_refusal(self._job.trial.case):
                raise
            self._recorded = Transcript(
                stop="not_admitted", refused_status=error.status, started_at=utc_now()
            )

    async def _converse(self, model: Model, pool: SessionPool) -> None:
        case = self._job.trial.case
        if self._preflight is not None:
            await self._preflight.wait(self._job)
        references = await self._end_states.references(case, self._job.server, pool)
        told = contexts(case, self._job.trial.key)
        async with pool.sessions(
            self._asking.of(self._job.server, self._job.model.agent),
            tuple(told.values()),
            case.caller.credential,
        ) as lent:
            sessions = self._traced(lent)
            session = sessions[0]
            self._tools = sessions[-1].tools
            offers = [each.tools for each in sessions]
            require_tools(case, self._job.server.name, offers, session.stderr_tail())
            if self._preflight is not None:
                self._preflight.check(self._job, session.tools)
            if case.caller.group is not None:  # others have the same question and are compared
                self._beside = await session.watch()
            suite = self._job.suite
            system = case.leaderboard.system_prompt or suite.system_prompt
            voice = (
                None
                if case.user is None
                else speaker(case.user, self._player, label_of(self._job.trial))
            )
            if self._job.model.agent is not None:
                self._conversation = self._with_agent(
                    self._job.model.agent, sessions[0], system, voice
                )
            else:
                price = own_costs(suite, self._job.model.name)
                offered: Sequence[Session] = sessions
                if self._job.model.variant is not None:
                    model, offered = self._under(self._job.model.variant, model, sessions)
                else:
                    model = with_leave(model, self._job)
                strategy = self._watched(_strategy(case, dict(zip(told, offered, strict=True))))
                as_told = partial(client_side.as_told, self._job.model.variant)
                self._conversation = Conversation(
                    case, model, offered[0], system, price, voice, strategy, as_told
                )
            self._scripted = ScriptedCalls(case, session)
            try:
                if await self._scripted.set_up():
                    await self._conversation.run()
                    self._states = (
                        *references,
                        *await read_states(case, self._job.server, session),
                    )
            finally:
                await self._scripted.tear_down()
                if case.caller.group is not None:
                    self._beside = bounded((*self._beside, *operators_log(session)))

    def _with_agent(
        self, spec: AgentSpec, session: Session, system: str | None, voice: Speaker | None
    ) -> AgentConversation:
        """Return the conversation with an agent, which speaks to the server itself."""
        if self._job.model.variant is not None:
            shown = self._views.of(self._job.model.variant, session.tools)
            self._note_shown(shown)
            session = PresentedSession(session, shown)
        return AgentConversation(
            self._job.trial.case,
            spec,
            session,
            self._job.server.name,
            system,
            voice,
            self._tell_so_far if self._tell is not None else None,
        )

    def _watched(self, strategy: Strategy) -> Strategy:
        return strategy if self._tell is None else Watched(strategy, self._tell_so_far)

    def _tell_so_far(self) -> None:
        if self._tell is not None and self._conversation is not None:
            self._tell(self._job.trial, self._conversation.transcript())

    def _traced(self, sessions: Sequence[Session]) -> Sequence[Session]:
        if self._traced_as is None:
            return sessions
        ids = TraceIds(self._traced_as, self._job.trial.key)
        return [TracedSession(session, ids) for session in sessions]

    def _under(
        self, variant: Variant, model: Model, sessions: Sequence[Session]
    ) -> tuple[Model, Sequence[Session]]:
        """Return ``model`` and ``sessions`` wrapped for ``variant``.

        A recording is not wrapped: it already uses the server's names.
        """
        shown = [self._views.of(variant, session.tools) for session in sessions]
        self._note_shown(shown[-1])
        told = (
            model if self._plays_back else VariantModel(with_leave(model, self._job, shown), shown)
        )
        return told, [VariantSession(*each) for each in zip(sessions, shown, strict=True)]

    def _note_shown(self, shown: ShownTools) -> None:
        self._tools, self._shown, self._presented = shown.offered, shown.tools, shown.presentation

    async def _carry_out(
        self, recorded: Transcript, recording: CarriedOut, pool: SessionPool
    ) -> None:
        case, server = self._job.trial.case, self._job.server
        references = await self._end_states.references(case, server, pool)
        async with pool.session(server, case.caller.user_context, case.caller.credential) as lent:
            (session,) = self._traced([lent])
            self._tools = session.tools
            now, differences = await carried_out(recorded, session)
            states = (*references, *await read_states(case, server, session))
        self._recorded = replace(now, states=states)
        self._replay = (replay_check(differences),)
        self._judge.given = recording.verdicts(case.name, self._job.trial.index)

    async def _judge_it(self) -> None:
        case, tools, transcript = (
            self._job.trial.case,
            self._tools or ToolList(tools=()),
            self._transcript(),
        )
        if transcript.error is None:
            evidence = Evidence(
                case=case,
                transcript=transcript,
                tools=tools,
                presented=self._presented,
                judge=self._judge,
            )
            self._checks = (*await evaluate(evidence), *self._replay)

    def _transcript(self) -> Transcript:
        if self._recorded is not None:
            return self._recorded
        assert self._conversation is not None
        assert self._scripted is not None
        return replace(
            self._scripted.completed(self._conversation.transcript()),
            states=self._states,
            beside=self._beside,
            shown_digest="" if self._shown is None else self._shown.digest,
        )

    def outcome(self) -> TrialOutcome:
        trial = self._job.trial
        if self._unrecorded:
            return TrialOutcome(
                line=TrialLine(run=not_started(trial, "skipped", reason=UNRECORDED))
            )
        if self._conversation is None and self._recorded is None:
            status: Status = "cancelled" if self.error is None else "error"
            result = not_started(trial, status, error=self.error)
            return TrialOutcome(line=TrialLine(run=result), tools=self._tools, shown=self._shown)
        transcript = self._transcript()
        result = judge_trial(
            trial,
            transcript,
            self._checks,
            self.error,
            judge_usage=self._judge.usage,
            judgements=self._judge.judgements,
        )
        return TrialOutcome(
            line=TrialLine(run=result, transcript=transcript), tools=self._tools, shown=self._shown
        )
