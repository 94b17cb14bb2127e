"""The log of an external program's session, written while the session is running.

Each call is in the log when it is sent, and again when it is answered: a kill of harness loses
none. `harness.runlog.read_log` restores the conversation of an interrupted session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.base import HarnessError, utc_now
from harness.judging import judge_trial, not_judged
from harness.runlog import (
    CallLine,
    Footer,
    LogWriter,
    RunLog,
    ToolsLine,
    TrialLine,
    discard_log,
    read_log,
)
from harness.runner.launcher import build_header, build_redactor
from harness.runner.planning.plan import RunPlan
from harness.runner.planning.request import RunOptions
from harness.runner.runs.folders import log_path, new_run_id
from harness.types import ToolCall, Transcript


class SessionLog:
    """The log of one session; it is created at the first call."""

    def __init__(
        self,
        plan: RunPlan,
        runs: Path,
        opening: Callable[[], tuple[Sequence[ToolsLine], Transcript]],
        reason: str,
    ) -> None:
        """Write the only trial of ``plan`` to a new folder below ``runs``.

        ``opening`` returns the tool lists, and the transcript of the session before its calls;
        ``reason`` is why it has no verdict.
        """
        (self._job,) = plan.jobs
        self._plan = plan
        self._runs = runs
        self._opening = opening
        self._reason = reason
        self._writer: LogWriter | None = None
        self._failed = False

    def __enter__(self) -> Self:
        """Return the log itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the log; without `finish` it is that of an interrupted session."""
        if self._writer is not None:
            self._writer.close()

    def write_call(self, call: ToolCall) -> None:
        """Write a call as far as it is known; if that fails, `finish` tries again and raises."""
        if self._failed:
            return
        try:
            if self._writer is None:
                self._writer = self._open_writer()
            self._writer.append(CallLine(call_of=self._job.trial.key, call=call))
        # The program's session goes on: it is told at its end that nothing was kept.
        except HarnessError:
            self._failed = True

    def finish(self, transcript: Transcript) -> RunLog:
        """Write the whole session, and return its log.

        Raises:
            HarnessError: it cannot be written.
        """
        if self._writer is None:
            self._writer = self._open_writer()
        result = not_judged(self._job.trial, transcript, reason=self._reason)
        self._writer.append(TrialLine(run=result, transcript=transcript))
        # Without it the session would count as cut off.
        self._writer.append(Footer(finished_at=utc_now(), elapsed_s=transcript.latency_s))
        self._writer.close()
        return read_log(self._writer.path)

    def _open_writer(self) -> LogWriter:
        redactor = build_redactor(self._plan)
        run_id = new_run_id([f"{self._job.suite.name}-{self._job.server.name}"])
        path = log_path(run_id, self._runs)
        tools, transcript = self._opening()
        # The line so far, which `read_log` completes with the calls if harness is killed.
        cut_off = judge_trial(self._job.trial, transcript, None)
        writer = LogWriter(path, redactor.redact_json_text, redactor.add_secret)
        try:
            writer.append(build_header(self._plan, run_id, RunOptions(concurrency=1)))
            for line in tools:
                writer.append(line)
            writer.append(TrialLine(run=cut_off, transcript=transcript))
        except HarnessError:
            writer.close()
            discard_log(path)
            raise
        return writer
