"""Results of trials and cases, and the report of a run."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol as _Interface

from harness.types.access import AccessReport
from harness.types.basics import HasEntrant, JsonObject, Status
from harness.types.cases import Case, CaseFacts
from harness.types.check_results import WRITTEN_CALL, CheckResult, Judgement
from harness.types.endings import Stop, TrialError
from harness.types.outcomes import CallCounts, Counts, Review, count_needed_passes
from harness.types.replies import Usage
from harness.types.shared_dataclass import dataclass
from harness.types.transcripts import Message, Transcript

DECIDED = "decided"
"""`TrialResult.skip_reason` of a trial that could no longer change its case's verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial(HasEntrant):
    """One planned run of a case."""

    suite: str
    """Name of the suite."""
    case: Case
    """The case to run."""
    model: str
    """Name of the model."""
    number: int
    """Number of the repeat, from 1."""
    key: str
    """SHA-256 of everything that determines the trial: equal keys, equal questions."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """Axis → name of the trial's value, without those that have the default."""
    repeats: int = 1
    """Planned trials of its case and entrant; 0 of one beyond the plan, asked again after all."""

    @property
    def needed_passes(self) -> int:
        """Number of trials that must pass for the case to pass."""
        return count_needed_passes(self.repeats, self.case.repeats.pass_threshold)


class Conversations(_Interface):
    """Reads the transcripts of results and shows a report as HTML; a run log is one."""

    def read_transcript(self, key: str) -> Transcript | None:
        """Return the transcript of the trial with that key; ``None`` if it was not started."""
        ...

    def list_rows(self, report: Report) -> tuple[JsonObject, ...]:
        """Return the trials as the lines of JSONL."""
        ...

    def render_html(self, report: Report) -> str:
        """Return the report as a table in HTML."""
        ...


class _LogBacked:
    """Base of what can look things up in its log; the link is neither compared nor written."""

    __slots__ = ("_conversations",)
    _conversations: Conversations

    def link_to(self, conversations: Conversations) -> None:
        """Set where transcripts are read from."""
        object.__setattr__(self, "_conversations", conversations)

    def _require_log(self) -> Conversations:
        try:
            return self._conversations
        except AttributeError:
            raise LookupError(
                "this result does not belong to a report, so its conversation is not known"
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult(_LogBacked, HasEntrant):
    """A trial's result: small and complete; the transcript is read from the log on demand."""

    key: str
    """`Trial.key`."""
    suite: str
    """Name of the suite."""
    model: str
    """Name of the model."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """`Trial.axes`."""
    trial: int
    """`Trial.number`."""
    case: CaseFacts
    """The case, as far as a result carries it."""
    status: Status
    """Exactly one."""
    checks: tuple[CheckResult, ...] = ()
    """In the suite's order, then what no suite writes: ``limit``, ``answered``, ``teardown`` …"""
    error: TrialError | None = None
    """Set exactly when ``status`` is ``error``."""
    skip_reason: str | None = None
    """Set exactly when ``status`` is ``skipped``: ``budget``, ``fail-fast``, ``decided`` …"""
    stop: Stop | None = None
    """`Transcript.stop`; ``None`` if nothing was started."""
    usage: Usage = field(default_factory=Usage)
    """`Transcript.usage`."""
    judge_usage: Usage = field(default_factory=Usage)
    """What judges used, apart from the model under test."""
    user_usage: Usage = field(default_factory=Usage)
    """`Transcript.user_usage`."""
    judgements: tuple[Judgement, ...] = ()
    """Every judge's verdict on this trial."""
    replies: int = 0
    """`Transcript.replies`."""
    outcomes: Mapping[str, int] | None = None
    """`Outcome` → number of calls; ``None`` if nothing was started."""
    offered: int | None = None
    """Number of tools that the user was offered; ``None`` if nothing was started."""
    latency_s: float = 0.0
    """Seconds of wall time, including waits."""
    waited_s: float = 0.0
    """Seconds spent waiting for rate limits and between attempts."""
    started_at: str = ""
    """UTC, ISO 8601; empty if nothing was started. Of a trial that was asked again, because it had
    no verdict, this is the start of the first attempt, and the usages are of all of them."""
    finished_at: str = ""
    """UTC, ISO 8601."""
    events_digest: str | None = None
    """SHA-256 of the canonical event sequence without times: equal digests, equal behaviour."""
    repeats: int = 1
    """`Trial.repeats`."""

    @property
    def needed_passes(self) -> int:
        """Number of trials of its case that must pass for the case to pass."""
        return count_needed_passes(self.repeats, self.case.pass_threshold)

    @property
    def tool_calls(self) -> int:
        """Number of calls of tools; a search for tools is none."""
        return CallCounts(outcomes=self.outcomes or {}).total

    @property
    def is_further(self) -> bool:
        """Whether it is beyond the plan."""
        return self.repeats == 0

    @property
    def written_call(self) -> str | None:
        """`Transcript.written_call`; such a trial says nothing about the words of a tool."""
        return next((check.actual for check in self.checks if check.kind == WRITTEN_CALL), None)

    @property
    def is_comparable(self) -> bool:
        """Whether experiments and comparisons count its verdict: not of a call written as text."""
        return self.status in {"passed", "failed"} and self.written_call is None

    @property
    def transcript(self) -> Transcript | None:
        """The transcript, read from the log; ``None`` if nothing was started.

        Raises:
            LookupError: the result does not belong to a report.
            OSError: the log cannot be read.
        """
        return self._require_log().read_transcript(self.key)

    @property
    def answer(self) -> str:
        """`Transcript.answer`, read from the log; empty if nothing was started."""
        transcript = self.transcript
        return "" if transcript is None else transcript.answer

    @property
    def messages(self) -> tuple[Message, ...]:
        """`Transcript.messages`, read from the log; empty if nothing was started."""
        transcript = self.transcript
        return () if transcript is None else transcript.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult(HasEntrant):
    """The verdict on one case with one entrant, from its trials."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    model: str
    """Name of the model."""
    status: Status
    """The case's verdict: ``passed`` or ``failed`` once open trials cannot change it, otherwise the
    status that prevents a verdict."""
    trials: Sequence[TrialResult]
    """Every recorded trial, in order; at least one."""
    planned: int
    """Trials of the plan."""
    pass_threshold: float = 1.0
    """Share of the planned trials that must pass."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """`Trial.axes`."""

    @property
    def needed_passes(self) -> int:
        """Number of trials that must pass for the case to pass."""
        return count_needed_passes(self.planned, self.pass_threshold)

    @property
    def passed_count(self) -> int:
        """Trials that passed."""
        return sum(result.status == "passed" for result in self.trials)

    @property
    def deciding_trial(self) -> TrialResult:
        """The trial that explains the case's status best: the first with the same status."""
        return next(
            (result for result in self.trials if result.status == self.status), self.trials[0]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(_LogBacked):
    """The results of a run and their aggregates: always built from a run log, never live.

    A notebook shows it as a table.
    """

    run_id: str
    """Name of the run's folder."""
    log: str
    """Path of the log that it was built from."""
    started_at: str
    """UTC, ISO 8601."""
    finished_at: str | None
    """UTC, ISO 8601; ``None`` when the log has no footer."""
    elapsed_s: float | None
    """Wall time; ``None`` when the log has no footer."""
    reason: str
    """Why the run ended: ``complete``, ``interrupted``, ``budget``, ``max-errors``,
    ``fail-fast``."""
    suites: JsonObject
    """Suite name → its part of the log's header."""
    models: JsonObject
    """Model name → its part of the log's header."""
    entrants: JsonObject
    """Name of an entrant, a column of the report → its model, and its value on each axis."""
    results: Sequence[TrialResult]
    """Every result, in the order of the suites."""
    cases: tuple[CaseResult, ...]
    """The verdict on each case and entrant, in that order; exit codes follow from these."""
    counts: Counts
    """Over all trials."""
    usage: Usage
    """Sum over all trials."""
    judge_usage: Usage = field(default_factory=Usage)
    """What judges used, over all trials."""
    user_usage: Usage = field(default_factory=Usage)
    """What the models that played users used, over all trials."""
    calls: CallCounts = field(default_factory=CallCounts)
    """Tool calls by outcome, over all trials."""
    servers: JsonObject = field(default_factory=dict)
    """Server name → its part of the log's header."""
    settings: JsonObject = field(default_factory=dict)
    """As in the log's header."""
    access: AccessReport = field(default_factory=AccessReport)
    """Who saw what, if cases have several identities."""
    damaged: tuple[str, ...] = ()
    """Unreadable lines of the log, a sentence each; a trial that was there counts as cancelled."""
    reviews: Mapping[str, Review] = field(default_factory=dict)
    """`TrialResult.key` → what a person said of its verdict."""
    by_people: bool = False
    """Whether a person's verdict takes the place of the machine's, where there is one."""
    report_path: str | None = None
    """The file that the report was written to, if `harness.run` was asked to write one."""

    @property
    def suite_name(self) -> str:
        """The suite's name; several are joined by commas."""
        return ", ".join(self.suites)

    @property
    def model(self) -> str:
        """The entrant's name; several are joined by commas."""
        return ", ".join(self.entrants)

    @property
    def runs(self) -> tuple[JsonObject, ...]:
        """Every trial as other evaluation runners have it: the lines of JSONL, by ``case_id``."""
        return self._require_log().list_rows(self)

    def _repr_html_(self) -> str:
        return self._require_log().render_html(self)

    @property
    def completed_at(self) -> str | None:
        """The same as `finished_at`."""
        return self.finished_at

    @property
    def summary(self) -> JsonObject:
        """The totals, under the names that other evaluation runners use.

        ``pass`` and ``fail`` count trials with a verdict, and ``pass_rate`` is the share of
        ``pass``; ``error``, ``skipped`` and ``cancelled`` are counted apart. Latencies are in
        milliseconds, of trials that were started. ``calls`` counts tool calls by outcome:
        ``{"total", "ok", "denied", "errors", "not_sent"}``. Of several entrants there is no common
        ``pass_rate`` and ``avg_latency_ms``: they answer the same cases.
        """
        counts, calls, is_alone = self.counts, self.calls, len(self.entrants) < 2  # noqa: PLR2004
        latencies = array(
            "d", (result.latency_s * 1000 for result in self.results if result.stop is not None)
        )
        rate = counts.passed / counts.judged_count if counts.judged_count else None
        mean = sum(latencies) / len(latencies) if latencies else 0.0
        return {
            "total": counts.planned,
            "pass": counts.passed,
            "fail": counts.failed,
            "error": counts.error,
            "skipped": counts.skipped,
            "cancelled": counts.cancelled,
            "pass_rate": rate if is_alone else None,
            "calls": {
                name: getattr(calls, name)
                for name in ("total", "ok", "denied", "errors", "not_sent")
            },
            "total_latency_ms": round(sum(latencies), 3),
            "avg_latency_ms": round(mean, 3) if latencies and is_alone else None,
            "total_tokens_in": self.usage.input_tokens,
            "total_tokens_out": self.usage.output_tokens,
            "total_cost_usd": self.usage.cost_usd,
        }
