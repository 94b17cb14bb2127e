"""A session of somebody else's program with a server, recorded as a run.

The program is given the address of a recording proxy (`harness.proxy`). Nothing is expected of the
session, so its one trial is ``skipped``: the log holds what happened, and no verdict.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import anyio

from harness.canonical_json import digest
from harness.judging.trial import not_judged
from harness.proxy.listener import open_listener
from harness.proxy.recording import Recording
from harness.runlog import Footer, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.runner.foreground import run_command
from harness.runner.launch import header_of, redactor_of
from harness.runner.planning.plan import Job, Plan
from harness.runner.run import RunOptions
from harness.runner.runs.folders import RECORDED_SERVER, RUNS, log_path, new_run_id
from harness.sessions import Session
from harness.sessions.pool import open_sessions
from harness.types import (
    UNKNOWN_USAGE,
    Case,
    Credential,
    JsonObject,
    ModelSpec,
    ServerSpec,
    Suite,
    Transcript,
    Trial,
    UserMessage,
)
from harness.types.case_parts import Caller
from harness.utc import utc_now

SUITE = "recorded"
"""Name of the suite in the logs of recorded sessions."""
REASON = "recorded, and nothing is expected of it: make cases of it with harness init --from"
MOST_CALLS = 10_000
"""Most calls of one session."""
URL_VARIABLE, FILE_VARIABLE = "HARNESS_MCP_URL", "HARNESS_MCP_CONFIG"
_PLACEHOLDER = re.compile(r"\{(mcp_url|mcp_config|prompt)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """What is recorded."""

    server: ServerSpec
    """The server that the program gets to use."""
    command: tuple[str, ...]
    """The program and its arguments; ``{mcp_url}``, ``{mcp_config}`` and ``{prompt}`` are
    replaced."""
    prompt: str = ""
    """What the program is asked, if it is known."""
    user_context: JsonObject | None = None
    """Who uses the server."""
    credential: Credential = "valid"
    """The token that is shown."""
    identity: str | None = None
    """Name of the identity, if it has one."""
    written_server: JsonObject | list[str] | str = ""
    """``server:`` of a suite for this server, without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What became of it."""

    exit_code: int
    """How the program ended."""
    log: RunLog | None
    """The run; ``None`` if the program made no call, so that none is kept."""
    strangers: int
    """Requests for an address without a token of the session, which were refused."""


async def record(request: RecordRequest, runs: Path = RUNS) -> Recorded:
    """Run the program with a recording proxy, and keep a run if it made a call.

    Raises:
        NotAdmitted: the server refused the user a session.
        ServerError: it could not be started or reached.
        UsageError: the program cannot be started, or the identity cannot be told to this server.
    """
    started_at = utc_now()
    plan = _plan(request)
    redactor = redactor_of(plan)
    async with (
        open_sessions(redactor.learn) as pool,
        pool.session(request.server, request.user_context, request.credential) as session,
        open_listener() as listener,
    ):
        recording = Recording()
        async with listener.serve(session, recording, MOST_CALLS) as url:
            code = await _run(request, url)
        took = anyio.current_time() - recording.epoch
        if not recording.calls():
            return Recorded(exit_code=code, log=None, strangers=listener.strangers)
        transcript = _transcript(request, session, recording, started_at, took)
        log = _kept(plan, session, transcript, runs)
        return Recorded(exit_code=code, log=log, strangers=listener.strangers)


async def _run(request: RecordRequest, url: str) -> int:
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        path = Path(folder) / "mcp.json"
        name = re.sub(r"[^A-Za-z0-9_-]+", "_", request.server.name) or "server"
        path.touch(0o600)  # whoever knows the URL can use the session
        path.write_text(json.dumps({"mcpServers": {name: {"type": "http", "url": url}}}))
        values = {"mcp_url": url, "mcp_config": str(path), "prompt": request.prompt}
        command = [filled(part, values) for part in request.command]
        return await run_command(command, {URL_VARIABLE: url, FILE_VARIABLE: str(path)})


def filled(text: str, values: dict[str, str]) -> str:
    """Return ``text`` with its placeholders replaced, once: values are not looked through."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _transcript(
    request: RecordRequest, session: Session, recording: Recording, started_at: str, took: float
) -> Transcript:
    asked = (UserMessage(text=request.prompt),) if request.prompt else ()
    return Transcript(
        messages=(*asked, *recording.messages()),
        tool_calls=recording.calls(),
        usage=UNKNOWN_USAGE,
        replies=recording.replies,
        started_at=started_at,
        latency_s=round(took, 6),
        tools=tuple(tool.name for tool in session.tools.tools),
        tools_digest=session.tools.digest,
        stderr_tail=session.stderr_tail() if session.lost else "",
    )


def _plan(request: RecordRequest) -> Plan:
    program = Path(request.command[0]).name
    caller = Caller(
        user_context=request.user_context,
        credential=request.credential,
        identity=request.identity,
    )
    case = Case(name=request.server.name, prompt=request.prompt, checks=(), caller=caller)
    key = digest([SUITE, utc_now(), case.name, program, request.prompt])
    trial = Trial(suite=SUITE, case=case, model=program, index=0, key=key)
    suite = Suite(name=SUITE, cases=(case,), server=request.server.name)
    model = ModelSpec(name=program, provider="command", model_id=program)
    job = Job(trial=trial, suite=suite, model=model, server=request.server)
    return Plan(jobs=(job,), settings={RECORDED_SERVER: request.written_server})


def _kept(plan: Plan, session: Session, transcript: Transcript, runs: Path) -> RunLog:
    (job,) = plan.jobs
    redactor = redactor_of(plan)
    run_id = new_run_id([f"{SUITE}-{job.server.name}"])
    path = log_path(run_id, runs)
    result = not_judged(job.trial, transcript, reason=REASON)
    with LogWriter(path, redactor.document, redactor.learn) as log:
        log.append(header_of(plan, run_id, RunOptions(concurrency=1)))
        log.append(
            ToolsLine(
                server=job.server.name,
                tools=session.tools,
                user_context=job.trial.case.caller.user_context,
            )
        )
        log.append(TrialLine(run=result, transcript=transcript))
        log.append(Footer(finished_at=utc_now(), elapsed_s=transcript.latency_s))
    return read_log(path)
