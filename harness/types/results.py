"""What came of it: results of checks, trials and cases, and the report of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from typing import Protocol as _Interface

from harness.types.access import AccessReport
from harness.types.asked import Case, CaseFacts, Severity
from harness.types.basics import JsonObject, Location, Status
from harness.types.counts import CallCounts, Counts
from harness.types.happened import STOPS, Message, Stop, Transcript, TrialError, Usage
from harness.types.written import written_as

Verdict: TypeAlias = Literal["passed", "failed", "not_judged"]
"""A check's outcome; ``not_judged`` (a judge failed, say) is never a score and never a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check's verdict and its reason."""

    kind: str
    """The kind of check."""
    label: str
    """The check in a few words: ``must_call get_orders``."""
    verdict: Verdict
    """How it went."""
    severity: Severity = "fail"
    """Whether a failure decides."""
    score: float | None = None
    """0 to 1, where the check is graded."""
    expected: Any = None
    """What was asked (JSON)."""
    actual: Any = None
    """What was found instead (JSON)."""
    explanation: str = ""
    """What happened, for a person who wants to act on it; empty when passed and nothing is to be
    said."""
    code: str | None = None
    """The check's own word for what is wrong, for programs: a leaderboard's ``error_type``."""
    hint: str | None = None
    """What usually helps."""
    at: Location | None = None
    """Where the suite asks for it."""
    turn: int | None = None
    """The `Turn` (from 1) that asks for it; ``None`` when the case as a whole does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict on one question, as a run keeps it."""

    question: str
    """SHA-256 of everything that the judge was told: equal digest, equal question."""
    model: str
    """Name of the judge."""
    prompt_version: str
    """Version of the prompt by which it was asked."""
    score: float
    """0 to 1."""
    grade: str | None = None
    """The word that it chose, where it was asked for one: ``correct``, ``partially correct``,
    ``wrong``."""
    explanation: str = ""
    """Its reason."""
    cached: bool = False
    """Whether an equal question had been judged before, so that this judgement took nothing."""


DECIDED = "decided"
"""`TrialResult.skip_reason` of a trial that could not change its case's verdict any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One planned run of a case."""

    suite: str
    """Name of the suite."""
    case: Case
    """What is asked."""
    model: str
    """Name of the model."""
    index: int
    """0-based repeat."""
    key: str
    """SHA-256 of everything that determines it: equal key, equal question."""
    repeats: int = 1
    """Trials of the same case and model in the plan."""

    @property
    def needed(self) -> int:
        """Trials of the case that must pass for it to pass."""
        return needed_of(self.repeats, self.case.repeats.pass_threshold)


class Conversations(_Interface):
    """Who has the conversations of results, and shows the results as a whole: a run log does both."""

    def transcript(self, key: str) -> Transcript | None:
        """Return what happened in the trial with that key; ``None`` where nothing was started."""
        ...

    def html(self, report: Report) -> str:
        """Return the report as a table in HTML."""
        ...


class _Logged:
    """What was read from a log and can look things up there: no field, so neither compared nor written."""

    __slots__ = ("_conversations",)
    _conversations: Conversations

    def linked_to(self, conversations: Conversations) -> None:
        """Remember who has the conversations."""
        object.__setattr__(self, "_conversations", conversations)

    def _linked(self) -> Conversations:
        try:
            return self._conversations
        except AttributeError:
            raise LookupError(
                "this result does not belong to a report, so its conversation is not known"
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult(_Logged):
    """A trial's result: small and complete; the conversation is read from the log when it is asked for."""

    key: str
    """`Trial.key`."""
    suite: str
    """Name of the suite."""
    case: CaseFacts
    """The case, as far as a result carries it."""
    model: str
    """Name of the model."""
    index: int
    """0-based repeat."""
    status: Status
    """Exactly one."""
    checks: tuple[CheckResult, ...] = ()
    """In the suite's order, then what no suite asks for: a limit that was hit (``limit``), a turn
    that got no answer (``answered``), a call after the conversation that failed (``teardown``)."""
    error: TrialError | None = None
    """Set exactly when ``status`` is ``error``."""
    skip_reason: str | None = None
    """Set exactly when ``status`` is ``skipped``: ``budget``, ``shard``, ``fail-fast``, ``decided``
    …"""
    stop: Stop | None = field(default=None, metadata=STOPS.metadata)
    """`Transcript.stop`; ``None`` when nothing was started."""
    usage: Usage = field(default_factory=Usage)
    """`Transcript.usage`."""
    judge_usage: Usage = field(default_factory=Usage)
    """What judging took, apart from what the model under test took."""
    user_usage: Usage = field(default_factory=Usage)
    """`Transcript.user_usage`."""
    judgements: tuple[Judgement, ...] = ()
    """Every judge's verdict on this trial."""
    replies: int = field(default=0, metadata=written_as("turns"))
    """`Transcript.replies`."""
    tool_calls: int = 0
    """Calls recorded."""
    outcomes: Mapping[str, int] | None = None
    """`Outcome` → how many of those calls came to it; ``None`` in logs of earlier versions."""
    offered: int | None = None
    """Tools that it was offered; ``None`` in logs of earlier versions."""
    latency_s: float = 0.0
    """Wall time, waiting included."""
    waited_s: float = 0.0
    """Waiting for rate limits and between attempts."""
    started_at: str = ""
    """UTC, ISO 8601; empty when nothing was started."""
    finished_at: str = ""
    """UTC, ISO 8601."""
    events_digest: str | None = None
    """SHA-256 of the canonical event sequence without times: equal behaviour, equal digest."""
    repeats: int = 1
    """`Trial.repeats`."""

    @property
    def needed(self) -> int:
        """Trials of its case that must pass for the case to pass."""
        return needed_of(self.repeats, self.case.pass_threshold)

    @property
    def transcript(self) -> Transcript | None:
        """What happened, read from the log; ``None`` where nothing was started.

        Raises:
            LookupError: the result is not one of a report's.
            OSError: the log is gone.
        """
        return self._linked().transcript(self.key)

    @property
    def answer(self) -> str:
        """`Transcript.answer`, read from the log: the model's last words; empty where nothing was started."""
        transcript = self.transcript
        return "" if transcript is None else transcript.answer

    @property
    def messages(self) -> tuple[Message, ...]:
        """`Transcript.messages`, read from the log: the whole conversation; none where nothing was started."""
        transcript = self.transcript
        return () if transcript is None else transcript.messages


def needed_of(planned: int, share: float) -> int:
    """Return how many of ``planned`` trials must pass where that ``share`` of them must."""
    # 0.07 of a hundred trials is seven of them, whatever binary fractions say.
    return max(1, math.ceil(planned * share - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What the trials of one case with one model come to."""

    suite: str
    """Name of the suite."""
    case: str
    """Name of the case."""
    model: str
    """Name of the model."""
    status: Status
    """The case's verdict: ``passed`` or ``failed`` as soon as no trial without a verdict could
    change it, and otherwise the ending that stands in the way of one."""
    trials: tuple[TrialResult, ...]
    """Every recorded trial, in order; at least one."""
    planned: int
    """Trials of the plan."""
    pass_threshold: float = 1.0
    """Share of them that must pass."""

    @property
    def needed(self) -> int:
        """Trials that must pass for the case to pass."""
        return needed_of(self.planned, self.pass_threshold)

    @property
    def passed(self) -> int:
        """Trials that passed."""
        return sum(run.status == "passed" for run in self.trials)

    @property
    def spokesman(self) -> TrialResult:
        """The trial that shows best why the case ended so: the first that ended like it."""
        return next((run for run in self.trials if run.status == self.status), self.trials[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(_Logged):
    """The results of a run and their aggregates: always built from a run log, never from live state.

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
    """Suite name → what the log's header says of it."""
    models: JsonObject
    """Model name → what the log's header says of it."""
    results: tuple[TrialResult, ...]
    """Every result, in the order of the suites."""
    cases: tuple[CaseResult, ...]
    """What the runs of each case and model come to, in the same order; exit codes go by these."""
    counts: Counts
    """Over all runs."""
    usage: Usage
    """Sum over all runs."""
    judge_usage: Usage = field(default_factory=Usage)
    """What judging took, over all runs."""
    user_usage: Usage = field(default_factory=Usage)
    """What the models took that played users, over all runs."""
    calls: CallCounts = field(default_factory=CallCounts)
    """What came of the tool calls, over all runs."""
    settings: JsonObject = field(default_factory=dict)
    """As in the log's header."""
    access: AccessReport = field(default_factory=AccessReport)
    """Who saw what, where cases differ in who asks."""
    damaged: tuple[str, ...] = ()
    """Lines of the log that cannot be read, a sentence each; a trial that stood there counts as
    cancelled."""
    report_path: str | None = None
    """The file that it was written to, where `harness.run` was asked to."""

    @property
    def suite_name(self) -> str:
        """The suite's name; several are joined by commas."""
        return ", ".join(self.suites)

    @property
    def model(self) -> str:
        """The model's name; several are joined by commas."""
        return ", ".join(self.models)

    def _repr_html_(self) -> str:
        return self._linked().html(self)

    @property
    def completed_at(self) -> str | None:
        """The same as `finished_at`."""
        return self.finished_at

    @property
    def summary(self) -> JsonObject:
        """Everything in numbers, under the names that other evaluation runners use.

        ``pass`` and ``fail`` count trials with a verdict, and ``pass_rate`` is their share;
        ``error``, ``skipped`` and ``cancelled`` stand beside them. Latency is in milliseconds, of
        trials that ran. ``calls`` says what came of the tool calls:
        ``{"total", "ok", "denied", "errors", "not_sent"}``.
        """
        counts, calls = self.counts, self.calls
        latencies = [run.latency_s * 1000 for run in self.results if run.stop is not None]
        return {
            "total": counts.planned,
            "pass": counts.passed,
            "fail": counts.failed,
            "error": counts.error,
            "skipped": counts.skipped,
            "cancelled": counts.cancelled,
            "pass_rate": counts.passed / counts.judged if counts.judged else None,
            "calls": {
                name: getattr(calls, name)
                for name in ("total", "ok", "denied", "errors", "not_sent")
            },
            "total_latency_ms": round(sum(latencies), 3),
            "avg_latency_ms": round(sum(latencies) / len(latencies), 3) if latencies else None,
            "total_tokens_in": self.usage.input_tokens,
            "total_tokens_out": self.usage.output_tokens,
            "total_cost_usd": self.usage.cost_usd,
        }
