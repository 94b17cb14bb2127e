"""Records a session of an external program with a server as a run.

The program gets the address of a recording proxy (`harness.agents.proxy`). The session has no
checks, so its only trial is ``skipped``: the log has the calls and no verdict.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import anyio

from harness.agents import (
    FILE_VARIABLE,
    URL_VARIABLE,
    Recording,
    client_files,
    fill_placeholders,
    open_listener,
)
from harness.base import HarnessError, digest_json, utc_now
from harness.judging import judge_trial, not_judged
from harness.runlog import (
    RECORDED_SERVER,
    RUNS,
    CallLine,
    Footer,
    LogWriter,
    RunLog,
    ToolsLine,
    TrialLine,
    discard_log,
    log_path,
    new_run_id,
    read_log,
)
from harness.runner.foreground import run_command
from harness.runner.launcher import build_header, build_redactor
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.request import RunOptions
from harness.runner.variants.variant_session import PresentedSession
from harness.runner.variants.views import VariantViews
from harness.sessions import open_sessions
from harness.suites import name_values
from harness.types import (
    UNKNOWN_USAGE,
    Caller,
    Case,
    Credential,
    JsonObject,
    ModelSpec,
    ServerSpec,
    Suite,
    ToolCall,
    Transcript,
    Trial,
    UserMessage,
    Variant,
    dataclass,
)


class SessionLog:
    """The log of one session; it is created at the first call."""

    def __init__(
        self, plan: RunPlan, runs: Path, tools: Sequence[ToolsLine], begun: Transcript
    ) -> None:
        """Write the only trial of ``plan`` to a new folder below ``runs``.

        ``begun`` is the transcript of the session before its calls.
        """
        (self._job,) = plan.jobs
        self._plan = plan
        self._runs = runs
        self._tools = tools
        self._begun = begun
        self._writer: LogWriter | None = None
        self._failed = False

    def close(self) -> None:
        """Close the log; without `finish` it is that of an interrupted session."""
        if self._writer is not None:
            self._writer.close()

    def write_call(self, call: ToolCall) -> None:
        """Write a call as far as it is known; if that fails, `finish` tries again and raises."""
        # The program's session goes on: it is told at its end that nothing was kept.
        try:
            if not self._failed:
                self._open_writer().append(CallLine(call_of=self._job.trial.key, call=call))
        except HarnessError:
            self._failed = True

    def finish(self, transcript: Transcript) -> RunLog:
        """Write the whole session, and return its log.

        Raises:
            HarnessError: it cannot be written.
        """
        writer = self._open_writer()
        result = not_judged(self._job.trial, transcript, reason=REASON)
        writer.append(TrialLine(run=result, transcript=transcript))
        # Without it the session would count as cut off.
        writer.append(Footer(finished_at=utc_now(), elapsed_s=transcript.latency_s))
        writer.close()
        return read_log(writer.path)

    def _open_writer(self) -> LogWriter:
        if self._writer is not None:
            return self._writer
        redactor = build_redactor(self._plan)
        run_id = new_run_id([f"{self._job.suite.name}-{self._job.server.name}"])
        path = log_path(run_id, self._runs)
        # The line so far, which `read_log` completes with the calls if harness is killed.
        cut_off = judge_trial(self._job.trial, self._begun, None)
        writer = LogWriter(path, redactor.redact_json_text, redactor.add_secret)
        try:
            writer.append(build_header(self._plan, run_id, RunOptions(concurrency=1)))
            for line in self._tools:
                writer.append(line)
            writer.append(TrialLine(run=cut_off, transcript=self._begun))
        except HarnessError:
            writer.close()
            discard_log(path)
            raise
        self._writer = writer
        return writer


SUITE = "recorded"
"""Name of the suite in the logs of recorded sessions."""
REASON = "recorded, and nothing is expected of it: make cases of it with harness init --from"
MOST_CALLS = 10_000
"""Most calls of one session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """The parameters of a recording."""

    server: ServerSpec
    """The server that the program gets to use."""
    command: tuple[str, ...]
    """The program and its arguments; ``{mcp_url}``, ``{mcp_config}``, ``{mcp_config_stdio}`` and
    ``{prompt}`` are replaced."""
    prompt: str = ""
    """The program's prompt, if known."""
    user_context: JsonObject | None = None
    """The user of the server."""
    credential: Credential = "valid"
    """The kind of token to send."""
    identity: str | None = None
    """Name of the identity, if it has one."""
    abilities: tuple[str, ...] = ("elicitation",)
    """Client capabilities of the program in its handshake with the server."""
    variant: Variant | None = None
    """The tools that the program sees instead of the server's own."""
    written_server: JsonObject | list[str] | str = ""
    """``server:`` of a suite for this server, without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingResult:
    """The result of a recording."""

    exit_code: int
    """Exit code of the program."""
    log: RunLog | None
    """The run; ``None`` if the program made no call, because then none is kept."""
    strangers: int
    """Requests for an address without a token of the session, which were refused."""


async def record_program(request: RecordRequest, runs: Path = RUNS) -> RecordingResult:
    """Run the program with a recording proxy, and keep a run if it made a call.

    Each call is written at once, so that a kill loses none.

    Raises:
        NotAdmitted: the server refused the user a session.
        ServerError: it could not be started or reached.
        UsageError: the program cannot be started, or the identity cannot be sent to this server.
        HarnessError: the run cannot be written.
    """
    started_at = utc_now()
    plan = _build_plan(request)
    server, who = request.server, request.user_context
    async with (
        open_sessions(build_redactor(plan).add_secret) as pool,
        pool.lend_session(
            server.with_abilities(request.abilities), who, request.credential
        ) as lent,
        open_listener() as listener,
    ):
        lists = [ToolsLine(server=server.name, tools=lent.tools, user_context=who)]
        session, shown = lent, None
        if request.variant is not None:
            shown = VariantViews().get_view(request.variant, lent.tools)
            session = PresentedSession(lent, shown)
            lists.append(replace(lists[0], tools=shown.tools, variant=shown.variant.name))
        begun = Transcript(
            messages=(UserMessage(text=request.prompt),) if request.prompt else (),
            # Whatever model the program asks, its tokens do not come past here.
            usage=UNKNOWN_USAGE,
            started_at=started_at,
            tools=tuple(tool.name for tool in session.tools.tools),
            tools_digest=session.tools.digest,
            shown_digest="" if shown is None else shown.tools.digest,
        )
        with (
            closing(SessionLog(plan, runs, lists, begun)) as log,
            tempfile.TemporaryDirectory(prefix="harness-") as folder,
        ):
            recording = Recording(log.write_call)
            async with listener.serve(session, recording, MOST_CALLS) as url:
                files = client_files(Path(folder), server.name, url)
                values = {"mcp_url": url, "prompt": request.prompt, **files}
                command = [fill_placeholders(part, values) for part in request.command]
                variables = {URL_VARIABLE: url, FILE_VARIABLE: files["mcp_config"]}
                code = await run_command(command, variables)
            kept = None
            # Without a call the log was never opened, and there is no folder to remove.
            if recording.list_calls():
                whole = replace(
                    begun,
                    messages=(*begun.messages, *recording.build_messages()),
                    tool_calls=recording.list_calls(),
                    replies=recording.replies,
                    latency_s=round(anyio.current_time() - recording.epoch, 6),
                    stderr_tail=session.stderr_tail() if session.loss_reason else "",
                )
                kept = log.finish(whole)
            return RecordingResult(exit_code=code, log=kept, strangers=listener.strangers)


def _build_plan(request: RecordRequest) -> RunPlan:
    program = Path(request.command[0]).name
    caller = Caller(
        user_context=request.user_context,
        credential=request.credential,
        identity=request.identity,
    )
    case = Case(name=request.server.name, prompt=request.prompt, checks=(), caller=caller)
    # With the time, so that two sessions of the same program are two trials.
    key = digest_json([SUITE, utc_now(), case.name, program, request.prompt])
    suite = Suite(name=SUITE, cases=(case,), server=request.server.name)
    model = ModelSpec(name=program, provider="command", model_id=program)
    point = {} if request.variant is None else {"variant": request.variant}
    axes = name_values(point)
    trial = Trial(suite=SUITE, case=case, model=program, axes=axes, number=1, key=key)
    job = Job(trial=trial, suite=suite, model=model, server=request.server, point=point)
    return RunPlan(jobs=(job,), settings={RECORDED_SERVER: request.written_server})
