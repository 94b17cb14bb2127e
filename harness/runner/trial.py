"""One trial: session, conversation, checks, verdict, log line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import anyio

from harness.base import NotAdmitted, utc_now
from harness.judging import (
    Evidence,
    Judge,
    checks_with,
    evaluate_checks,
    judge_trial,
    not_started,
    reward_check,
)
from harness.models import PerTrialModel
from harness.runlog import TrialLine
from harness.runner.agent_conversation import AgentConversation
from harness.runner.attacks import interposers
from harness.runner.attacks.planter_view import PlanterView, list_planter_users
from harness.runner.case_rules import (
    QuestionAnswers,
    ScriptedCalls,
    add_instructions,
    grant_leave,
    own_costs,
)
from harness.runner.content.given_content import choose_form
from harness.runner.conversation import Conversation, trial_error
from harness.runner.direct_calls import DirectCalls
from harness.runner.end_state import read_states
from harness.runner.faults import build_injector
from harness.runner.model_conversation import ModelConversation
from harness.runner.planning.plan import Job
from harness.runner.preflight.preflight import Preflight, require_tools
from harness.runner.recordings.recorded_outputs import (
    RECORDED,
    UNRECORDED,
    find_executable,
    get_recording,
)
from harness.runner.recordings.replay_on_server import execute_recording, replay_check
from harness.runner.run_context import RunContext
from harness.runner.strategies import InterruptedStrategy, LeaderboardStrategy, get_server_contexts
from harness.runner.user_tools import UserToolbox, give_toolbox, withhold_tools
from harness.runner.users import Speaker, build_speaker
from harness.runner.variants.defences import filter_tools
from harness.runner.variants.shown_tools import ShownTools
from harness.runner.variants.variant_session import PresentedSession, VariantModel, VariantSession
from harness.sessions import (
    FaultInjector,
    Planter,
    Session,
    TracedSession,
    TraceIds,
    limit_side_channels,
    read_operator_log,
)
from harness.suites import ExecutableRecording
from harness.types import (
    AgentSpec,
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
    dataclass,
)

Tell: TypeAlias = Callable[[Trial, Transcript], None]
"""Is told the conversation of a trial so far, after each of its steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """The outcome of a trial."""

    line: TrialLine
    """The line for the log."""
    tools: ToolList | None = None
    """The tool list that the user was offered, if a session was opened."""
    shown: ToolList | None = None
    """The tool list that the model saw instead, under a variant."""


async def run_trial(
    job: Job,
    context: RunContext,
    preflight: Preflight,
    scope: anyio.CancelScope,
    tell: Tell | None = None,
) -> TrialOutcome:
    """Run one trial under ``scope``; whatever happens, it ends with exactly one status.

    This is the boundary where any failure becomes the result of one trial.
    """
    attempt = _Attempt(job, context, preflight, tell)
    try:
        # A cancelled scope ends here without an exception: the outcome is what is known by then.
        with scope:
            await attempt.run()
    except Exception as error:  # noqa: BLE001 - a bug in one trial must not end the others
        attempt.error = trial_error(error)
    return attempt.build_outcome()


def get_label(trial: Trial) -> str:
    """Return the name of a trial in a recording."""
    return f"{trial.suite}::{trial.case.name}#{trial.number}"


class _Attempt:
    """The parts of an outcome, as far as they are known."""

    def __init__(
        self, job: Job, context: RunContext, preflight: Preflight, tell: Tell | None
    ) -> None:
        self._job = job
        self._context = context
        self._preflight = preflight
        self._tell = tell
        self._label = get_label(job.trial)
        self._judge = Judge(context.judges, job.judge)
        self._shown: ToolList | None = None
        self._presented: Presentation | None = None
        self._beside: tuple[SideContent, ...] = ()
        self._states: tuple[StateReading, ...] = ()
        self._conversation: Conversation | None = None
        self._scripted: ScriptedCalls | None = None
        self._answers = QuestionAnswers(job.trial.case.caller.elicit)
        self._tools: ToolList | None = None
        self._checks: tuple[CheckResult, ...] | None = None
        self._recorded: Transcript | None = None
        self._unrecorded = False
        self._replay: tuple[CheckResult, ...] = ()
        self._recorded_reward: float | None = None
        self._planter: Planter | None = interposers.build_planter(job)
        self.error: TrialError | None = None

    async def run(self) -> None:
        case, model = self._job.trial.case, self._job.model
        if model.provider == RECORDED:
            recording = get_recording(model)
            transcripts = recording.get_transcripts(case.name)
            self._unrecorded = self._job.trial.number > len(transcripts)
            if self._unrecorded:
                return
            self._recorded = transcripts[self._job.trial.number - 1]
            if (executable := find_executable(recording)) is not None:
                await self._execute_recorded(self._recorded, executable)
        else:
            try:
                await self._converse()
            except NotAdmitted as error:
                if not checks_with("judges_refused_session", case.every_check):
                    raise
                # The refusal itself is what the check judges.
                self._recorded = Transcript(
                    stop="not_admitted", refused_status=error.status, started_at=utc_now()
                )
        # Judged outside of the session, which other trials may use meanwhile.
        transcript = self._build_transcript()
        if transcript.error is None:
            evidence = Evidence(
                case=case,
                transcript=transcript,
                tools=self._known_tools or ToolList(tools=()),
                presented=self._presented,
                judge=self._judge,
            )
            self._checks = (*await evaluate_checks(evidence), *self._replay)
            if self._recorded_reward is not None:
                status = judge_trial(self._job.trial, transcript, self._checks).status
                compared = reward_check(self._recorded_reward, status)
                self._checks += () if compared is None else (compared,)

    async def _converse(self) -> None:
        job, context, case = self._job, self._context, self._job.trial.case
        # Both need sessions of their own, so they come before this trial holds one.
        await self._preflight.wait_until_checked(job)
        references = await context.end_states.read_references(case, job.server, context.pool)
        told = get_server_contexts(case, job.trial.key)
        # All at once: trials that hold one session and wait for another could block each other.
        server, users = context.get_server(job), (*told.values(), *list_planter_users(job))
        async with (
            context.pool.lend_sessions(server, users, case.caller.credential) as lent,
            self._answers.open(self._trace_sessions(lent[: len(told)])) as asked,
        ):
            session, view = asked[0], PlanterView(job, next(iter(lent[len(told) :]), None))
            if job.model.agent is None:  # an agent listens by itself
                for each in lent:
                    await each.listen_for_changes()
            toolbox = None if case.user is None else give_toolbox(session, case.user)
            sessions = [withhold_tools(each, case.user) for each in asked]
            sessions = interposers.interpose(
                sessions, injector := build_injector(job), self._planter
            )
            self._tools = sessions[-1].tools
            offers = [each.tools for each in sessions]
            require_tools(case, job.server.name, offers, session.stderr_tail())
            self._preflight.check_tools(job, session.tools)
            if case.caller.group is not None:  # others have the same question and are compared
                self._beside = await session.watch()
            self._conversation = (
                DirectCalls(case, session)
                if case.calls
                else self._build_conversation(list(told), sessions, toolbox, injector)
                if job.model.agent is None
                else self._build_agent_conversation(job.model.agent, sessions[0], toolbox)
            )
            # By the server's own session, since setup and teardown use the server's names.
            self._scripted = ScriptedCalls(case, session)
            try:
                if await self._scripted.set_up():
                    await view.look_before()
                    await self._conversation.run()
                    await view.look_after(session, self._conversation.build_transcript())
                    # Before the teardown, which may remove what is compared.
                    states = await read_states(case, job.server, session)
                    self._states = (*references, *states, *view.states)
            finally:
                await self._scripted.tear_down()
                if case.caller.group is not None:
                    self._beside = limit_side_channels((*self._beside, *read_operator_log(session)))

    def _build_conversation(
        self,
        turns: Sequence[int],
        sessions: Sequence[Session],
        toolbox: UserToolbox | None,
        injector: FaultInjector | None,
    ) -> ModelConversation:
        """Return the conversation with a model, which changes to the next session at each turn.

        A recorded run is not wrapped for a variant: it already uses the server's names.
        """
        job, variant, case = self._job, self._job.variant, self._job.trial.case
        model = self._context.models[job.model.name]
        shown = [self._show_tools(variant, each) for each in sessions] if variant else []
        if isinstance(model, PerTrialModel):
            model = model.for_trial(self._label)
        else:
            model = filter_tools(grant_leave(model, job, shown), variant, case)
            model = interposers.interpose_model(model, injector, self._planter, sessions, shown)
            if variant is not None:
                model = VariantModel(model, shown)
        if variant is not None:

            def show_changed(session: Session) -> ShownTools:
                shown.append(self._show_tools(variant, session))
                return shown[-1]

            sessions = [
                VariantSession(*p, show_changed) for p in zip(sessions, [*shown], strict=True)
            ]
        strategy = (
            LeaderboardStrategy(case.leaderboard, dict(zip(turns, sessions, strict=True)))
            if case.interruption == Interruption()
            else InterruptedStrategy(case.interruption)
        )
        if self._tell is not None:
            strategy.tell = self._report_progress
        conversation = ModelConversation(
            case,
            model,
            sessions[0],
            self._build_system_prompt(sessions[0].tools),
            # An agent says itself what it used, so only a model's tokens are priced here.
            own_costs(job.suite, job.model.name),
            self._build_speaker(toolbox),
            strategy,
            choose_form(variant, job.model, case.name),
        )
        if injector is not None:
            injector.pass_time = conversation.pass_time
        return conversation

    def _build_agent_conversation(
        self, spec: AgentSpec, session: Session, toolbox: UserToolbox | None
    ) -> AgentConversation:
        """Return the conversation with an agent, which speaks to the server itself."""
        if self._job.variant is not None:
            session = PresentedSession(session, self._show_tools(self._job.variant, session))
        return AgentConversation(
            self._job.trial.case,
            spec,
            session,
            self._job.server.name,
            self._system,
            self._build_speaker(toolbox),
            self._report_progress,
        )

    def _build_system_prompt(self, tools: ToolList) -> str | None:
        """Return the system prompt of a model, with the server's instructions as hosts add them."""
        # The prompt of a leaderboard is part of its rules: nothing is added.
        is_ruled = self._job.trial.case.leaderboard.system_prompt is not None
        return self._system if is_ruled else add_instructions(self._system, tools.instructions)

    @property
    def _system(self) -> str | None:
        return self._job.trial.case.leaderboard.system_prompt or self._job.suite.system_prompt

    def _build_speaker(self, toolbox: UserToolbox | None) -> Speaker | None:
        user, player = self._job.trial.case.user, self._job.player
        played_by = None if player is None else self._context.players[player.name]
        if user is None:
            return None
        speaker = build_speaker(user, played_by, self._label, toolbox)
        self._answers.speaker = speaker
        return speaker

    def _report_progress(self) -> None:
        if self._tell is not None and self._conversation is not None:
            self._tell(self._job.trial, self._conversation.build_transcript())

    def _trace_sessions(self, sessions: Sequence[Session]) -> Sequence[Session]:
        if self._context.traced_as is None:
            return sessions
        ids = TraceIds(self._context.traced_as, self._job.trial.key)
        return [TracedSession(session, ids) for session in sessions]

    def _show_tools(self, variant: Variant, session: Session) -> ShownTools:
        shown = self._context.views.get_view(variant, session.tools)
        self._tools, self._shown, self._presented = shown.offered, shown.tools, shown.presentation
        return shown

    async def _execute_recorded(self, recorded: Transcript, recording: ExecutableRecording) -> None:
        index, server, context = self._job.trial.number - 1, self._job.server, self._context
        case = recording.restore_trial(self._job.trial.case, index)
        references = await context.end_states.read_references(case, server, context.pool)
        async with context.pool.lend_session(
            server, case.caller.user_context, case.caller.credential
        ) as lent:
            (session,) = self._trace_sessions([lent])
            toolbox = None if case.user is None else give_toolbox(session, case.user)
            scripted, agents = ScriptedCalls(case, session), withhold_tools(session, case.user)
            self._tools = agents.tools
            if not await scripted.set_up():
                self._recorded = scripted.complete_transcript(Transcript())
                return
            now, differences = await execute_recording(recorded, agents, toolbox)
            now = scripted.complete_transcript(now)
            states = (*references, *await read_states(case, server, session))
        self._recorded = replace(now, states=states)
        self._replay = (replay_check(differences),)
        # What was judged when it was recorded counts where no judge is asked now.
        self._judge.given = recording.get_verdicts(case.name, index)
        self._recorded_reward = recording.get_reward(case.name, index)

    @property
    def _known_tools(self) -> ToolList | None:
        """Every tool that was offered: what came later is judged as what was there."""
        return self._tools if self._conversation is None else self._conversation.known_tools

    def _build_transcript(self) -> Transcript:
        if self._recorded is not None:
            return self._recorded
        assert self._conversation is not None
        assert self._scripted is not None
        said = self._scripted.complete_transcript(self._conversation.build_transcript())
        return replace(
            self._answers.complete_transcript(said),
            states=(*self._states, *interposers.list_planted(self._planter)),
            beside=self._beside,
            shown_digest="" if self._shown is None else self._shown.digest,
        )

    def build_outcome(self) -> TrialOutcome:
        trial, transcript = self._job.trial, None
        if self._unrecorded:
            result = not_started(trial, "skipped", reason=UNRECORDED)
        # Nothing was begun, so there is no conversation to keep.
        elif self._conversation is None and self._recorded is None:
            status: Status = "cancelled" if self.error is None else "error"
            result = not_started(trial, status, error=self.error)
        else:
            transcript = self._build_transcript()
            result = judge_trial(
                trial,
                transcript,
                self._checks,
                self.error,
                judge_usage=self._judge.usage,
                judgements=self._judge.judgements,
                tools=self._tools,
            )
        line = TrialLine(run=result, transcript=transcript)
        return TrialOutcome(line=line, tools=self._known_tools, shown=self._shown)
