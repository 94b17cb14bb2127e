"""One trial: session, conversation, checks, verdict, log line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from harness.base import HarnessError, JudgeError, NotAdmitted, ServerError, utc_now
from harness.judging import Evidence, Judge, checks_with, evaluate_checks, judge_trial, not_started
from harness.models import Model, PerTrialModel
from harness.runlog import TrialLine
from harness.runner.agent import InterruptedStrategy, ModelConversation, Strategy, WatchedStrategy
from harness.runner.agents.agent_servers import AgentServers
from harness.runner.agents.conversation import AgentConversation
from harness.runner.leaderboard_strategy import LeaderboardStrategy, get_server_contexts
from harness.runner.leave import grant_leave
from harness.runner.planning.plan import Job
from harness.runner.planning.user_models import Player
from harness.runner.preflight.no_tools import require_tools
from harness.runner.preflight.preflight import Preflight
from harness.runner.recordings.recorded_outputs import UNRECORDED, RecordedModel
from harness.runner.recordings.replay_on_server import execute_recording, replay_check
from harness.runner.scripted_calls import ScriptedCalls
from harness.runner.server_state.end_state import EndStates, read_states
from harness.runner.suite_costs import own_costs
from harness.runner.users import Speaker, build_speaker
from harness.runner.variants import clients
from harness.runner.variants.model import VariantModel
from harness.runner.variants.presented_session import PresentedSession
from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.variant_session import VariantSession
from harness.runner.variants.views import VariantViews
from harness.sessions import (
    Session,
    SessionPool,
    TracedSession,
    TraceIds,
    limit_side_channels,
    read_operator_log,
)
from harness.suites import ExecutableRecording
from harness.types import (
    AgentSpec,
    Case,
    CheckResult,
    Interruption,
    Presentation,
    SideContent,
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
class TrialContext:
    """Objects that the trials of one run share, in addition to models and sessions."""

    judge: Judge = field(default_factory=lambda: Judge({}))
    """Grades what no assertion can decide, for this trial."""
    preflight: Preflight | None = None
    """The check of all tools before the first trial."""
    player: Player | None = None
    """Plays the simulated user, if the case has one."""
    end_states: EndStates = field(default_factory=EndStates)
    """The states after reference calls, each read once."""
    views: VariantViews = field(default_factory=VariantViews)
    """The tool lists that models see under variants."""
    traced_as: str | None = None
    """The name of the run, if its calls carry trace context; ``None``: they carry none."""
    asking: AgentServers = field(default_factory=AgentServers)
    """The servers with the client capabilities of agents."""
    tell: Callable[[Trial, Transcript], None] | None = None
    """Called with the conversation so far, after each of its steps; ``None`` if not needed."""


async def run_trial(
    job: Job,
    model: Model,
    pool: SessionPool,
    scope: anyio.CancelScope,
    support: TrialContext | None = None,
) -> TrialOutcome:
    """Run one trial under ``scope``; whatever happens, it ends with exactly one status.

    This is the boundary where any failure becomes the result of one trial.
    """
    attempt = _Attempt(job, support or TrialContext(), plays_back=isinstance(model, PerTrialModel))
    if isinstance(model, PerTrialModel):
        model = model.for_trial(get_label(job.trial))
    try:
        # A cancelled scope ends here without an exception: the outcome is what is known by then.
        with scope:
            await attempt.run_attempt(model, pool)
    except Exception as error:  # noqa: BLE001 - a bug in one trial must not end the others
        attempt.error = trial_error(error)
    return attempt.build_outcome()


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


def _build_strategy(case: Case, sessions: Mapping[int, Session]) -> Strategy:
    """Return the strategy for ``case``; ``sessions`` has the session to use from each turn on."""
    if case.interruption != Interruption():
        return InterruptedStrategy(case.interruption)
    return LeaderboardStrategy(case.leaderboard, sessions)


def get_label(trial: Trial) -> str:
    """Return the name of a trial in a recording."""
    return f"{trial.suite}::{trial.case.name}#{trial.number}"


class _Attempt:
    """The parts of an outcome, as far as they are known."""

    def __init__(self, job: Job, support: TrialContext, *, plays_back: bool) -> None:
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
        self._beside: tuple[SideContent, ...] = ()
        self._states: tuple[StateReading, ...] = ()
        self._conversation: ModelConversation | AgentConversation | None = None
        self._scripted: ScriptedCalls | None = None
        self._tools: ToolList | None = None
        self._checks: tuple[CheckResult, ...] | None = None
        self._recorded: Transcript | None = None
        self._unrecorded = False
        self._replay: tuple[CheckResult, ...] = ()
        self.error: TrialError | None = None

    async def run_attempt(self, model: Model, pool: SessionPool) -> None:
        if isinstance(model, RecordedModel):
            self._recorded = model.find_transcript(self._job.trial)
            self._unrecorded = self._recorded is None
            if self._recorded is not None and model.executed_recording is not None:
                await self._execute_recorded(self._recorded, model.executed_recording, pool)
        else:
            await self._converse_unless_refused(model, pool)
        # Judged outside of the session, which other trials may use meanwhile.
        if not self._unrecorded:
            await self._judge_trial()

    async def _converse_unless_refused(self, model: Model, pool: SessionPool) -> None:
        try:
            await self._converse(model, pool)
        except NotAdmitted as error:
            if not checks_with("judges_refused_session", self._job.trial.case.every_check):
                raise
            # The refusal itself is what the check judges.
            self._recorded = Transcript(
                stop="not_admitted", refused_status=error.status, started_at=utc_now()
            )

    async def _converse(self, model: Model, pool: SessionPool) -> None:
        case = self._job.trial.case
        # Both need sessions of their own, so they come before this trial holds one.
        if self._preflight is not None:
            await self._preflight.wait_until_checked(self._job)
        references = await self._end_states.read_references(case, self._job.server, pool)
        told = get_server_contexts(case, self._job.trial.key)
        # All at once: trials that hold one session and wait for another could block each other.
        async with pool.lend_sessions(
            self._asking.get_server(self._job.server, self._job.model.agent),
            tuple(told.values()),
            case.caller.credential,
        ) as lent:
            sessions = self._trace_sessions(lent)
            session = sessions[0]
            self._tools = sessions[-1].tools
            offers = [each.tools for each in sessions]
            require_tools(case, self._job.server.name, offers, session.stderr_tail())
            if self._preflight is not None:
                self._preflight.check_tools(self._job, session.tools)
            if case.caller.group is not None:  # others have the same question and are compared
                self._beside = await session.watch()
            suite = self._job.suite
            system = case.leaderboard.system_prompt or suite.system_prompt
            voice = (
                None
                if case.user is None
                else build_speaker(case.user, self._player, get_label(self._job.trial))
            )
            if self._job.model.agent is not None:
                self._conversation = self._build_agent_conversation(
                    self._job.model.agent, sessions[0], system, voice
                )
            else:
                # An agent says itself what it used, so only a model's tokens are priced here.
                price = own_costs(suite, self._job.model.name)
                offered: Sequence[Session] = sessions
                if self._job.variant is not None:
                    model, offered = self._apply_variant(self._job.variant, model, sessions)
                else:
                    model = grant_leave(model, self._job)
                strategy = self._watch_strategy(
                    _build_strategy(case, dict(zip(told, offered, strict=True)))
                )
                as_told = partial(clients.adapt_result, self._job.variant)
                self._conversation = ModelConversation(
                    case, model, offered[0], system, price, voice, strategy, as_told
                )
            # By the server's own session, since setup and teardown use the server's names.
            self._scripted = ScriptedCalls(case, session)
            try:
                if await self._scripted.set_up():
                    await self._conversation.run()
                    # Before the teardown, which may remove what is compared.
                    self._states = (
                        *references,
                        *await read_states(case, self._job.server, session),
                    )
            finally:
                await self._scripted.tear_down()
                if case.caller.group is not None:
                    self._beside = limit_side_channels((*self._beside, *read_operator_log(session)))

    def _build_agent_conversation(
        self, spec: AgentSpec, session: Session, system: str | None, voice: Speaker | None
    ) -> AgentConversation:
        """Return the conversation with an agent, which speaks to the server itself."""
        if self._job.variant is not None:
            shown = self._views.get_view(self._job.variant, session.tools)
            self._record_shown(shown)
            session = PresentedSession(session, shown)
        return AgentConversation(
            self._job.trial.case,
            spec,
            session,
            self._job.server.name,
            system,
            voice,
            self._report_progress if self._tell is not None else None,
        )

    def _watch_strategy(self, strategy: Strategy) -> Strategy:
        return strategy if self._tell is None else WatchedStrategy(strategy, self._report_progress)

    def _report_progress(self) -> None:
        if self._tell is not None and self._conversation is not None:
            self._tell(self._job.trial, self._conversation.build_transcript())

    def _trace_sessions(self, sessions: Sequence[Session]) -> Sequence[Session]:
        if self._traced_as is None:
            return sessions
        ids = TraceIds(self._traced_as, self._job.trial.key)
        return [TracedSession(session, ids) for session in sessions]

    def _apply_variant(
        self, variant: Variant, model: Model, sessions: Sequence[Session]
    ) -> tuple[Model, Sequence[Session]]:
        """Return ``model`` and ``sessions`` wrapped for ``variant``.

        A recording is not wrapped: it already uses the server's names.
        """
        shown = [self._views.get_view(variant, session.tools) for session in sessions]
        self._record_shown(shown[-1])
        told = (
            model if self._plays_back else VariantModel(grant_leave(model, self._job, shown), shown)
        )
        return told, [VariantSession(*each) for each in zip(sessions, shown, strict=True)]

    def _record_shown(self, shown: ShownTools) -> None:
        self._tools, self._shown, self._presented = shown.offered, shown.tools, shown.presentation

    async def _execute_recorded(
        self, recorded: Transcript, recording: ExecutableRecording, pool: SessionPool
    ) -> None:
        case, server = self._job.trial.case, self._job.server
        references = await self._end_states.read_references(case, server, pool)
        async with pool.lend_session(
            server, case.caller.user_context, case.caller.credential
        ) as lent:
            (session,) = self._trace_sessions([lent])
            self._tools = session.tools
            now, differences = await execute_recording(recorded, session)
            states = (*references, *await read_states(case, server, session))
        self._recorded = replace(now, states=states)
        self._replay = (replay_check(differences),)
        # What was judged when it was recorded counts where no judge is asked now.
        self._judge.given = recording.get_verdicts(case.name, self._job.trial.number - 1)

    async def _judge_trial(self) -> None:
        case, tools, transcript = (
            self._job.trial.case,
            self._tools or ToolList(tools=()),
            self._build_transcript(),
        )
        if transcript.error is None:
            evidence = Evidence(
                case=case,
                transcript=transcript,
                tools=tools,
                presented=self._presented,
                judge=self._judge,
            )
            self._checks = (*await evaluate_checks(evidence), *self._replay)

    def _build_transcript(self) -> Transcript:
        if self._recorded is not None:
            return self._recorded
        assert self._conversation is not None
        assert self._scripted is not None
        return replace(
            self._scripted.complete_transcript(self._conversation.build_transcript()),
            states=self._states,
            beside=self._beside,
            shown_digest="" if self._shown is None else self._shown.digest,
        )

    def build_outcome(self) -> TrialOutcome:
        trial = self._job.trial
        if self._unrecorded:
            return TrialOutcome(
                line=TrialLine(run=not_started(trial, "skipped", reason=UNRECORDED))
            )
        # Nothing was begun, so there is no conversation to keep.
        if self._conversation is None and self._recorded is None:
            status: Status = "cancelled" if self.error is None else "error"
            result = not_started(trial, status, error=self.error)
            return TrialOutcome(line=TrialLine(run=result), tools=self._tools, shown=self._shown)
        transcript = self._build_transcript()
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
