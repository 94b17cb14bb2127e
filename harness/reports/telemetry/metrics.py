"""A run as metrics, as plain data: trials by status, tokens, cost, times.

They are counted from the log while its traces are made, and say nothing of what is unknown: tokens
that no provider reported are no 0, and a cost of which a part is unknown is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

from harness.base import KNOWN
from harness.reports.telemetry import conventions
from harness.types import (
    AssistantMessage,
    JsonObject,
    ToolCall,
    Transcript,
    TrialResult,
    Usage,
    Wire,
    dataclass,
)

Attributes: TypeAlias = tuple[tuple[str, str], ...]
"""Name and value, sorted; what is unknown is left out."""

TOKEN_BOUNDS = tuple(4.0**power for power in range(14))
"""Bounds of tokens, as the conventions advise."""
CALL_BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Bounds of seconds, as the conventions advise for MCP."""
COUNT_BOUNDS = (0, 1, 2, 3, 4, 5, 8, 12, 20, 50, 100)
"""Bounds of replies and calls of one trial."""


@dataclass(slots=True)
class ValueHistogram:
    """How values are spread over buckets."""

    bounds: Sequence[float]
    """Upper bounds of all buckets but the last; a value on a bound is below it."""
    counts: list[int] = field(default_factory=list)
    """Values in each bucket."""
    total: float = 0
    """Their sum."""
    least: float = 0
    """The smallest."""
    most: float = 0
    """The largest."""

    def add(self, value: float) -> None:
        """Count one value."""
        if not self.counts:
            self.counts, self.least, self.most = [0] * (len(self.bounds) + 1), value, value
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
        self.least, self.most = min(self.least, value), max(self.most, value)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric over a whole run."""

    name: str
    """Its name."""
    unit: str
    """Its unit, as in UCUM."""
    description: str
    """What it counts."""
    bounds: Sequence[float] | None = None
    """The bounds of its buckets; ``None`` of a sum."""
    points: dict[Attributes, Any] = field(default_factory=dict)
    """Attributes → a sum, or a `ValueHistogram`."""


_METRICS = (
    Metric(conventions.TRIALS, "{trial}", "Trials of the run."),
    Metric(conventions.TRIAL_DURATION, "s", "Time of a trial, waits included.", CALL_BOUNDS),
    Metric(conventions.INPUT_TOKENS_USED, "{token}", "Tokens of all replies."),
    Metric(conventions.OUTPUT_TOKENS_USED, "{token}", "Tokens of all replies."),
    Metric(conventions.CACHE_READ_USED, "{token}", "Tokens of all replies."),
    Metric(conventions.CACHE_WRITE_USED, "{token}", "Tokens of all replies."),
    Metric(conventions.INPUT_TOKENS_OF_REPLY, "{token}", "Tokens of a reply.", TOKEN_BOUNDS),
    Metric(conventions.OUTPUT_TOKENS_OF_REPLY, "{token}", "Tokens of a reply.", TOKEN_BOUNDS),
    Metric(conventions.AGENT_DURATION, "s", "Time of a trial, waits included.", CALL_BOUNDS),
    Metric(conventions.AGENT_REPLIES, "{call}", "Replies of the model in a trial.", COUNT_BOUNDS),
    Metric(conventions.AGENT_CALLS, "{call}", "Tool calls of the model in a trial.", COUNT_BOUNDS),
    Metric(conventions.TOOL_DURATION, "s", "Time of a tool call, by tool.", CALL_BOUNDS),
    Metric(conventions.RUN_COST, "{USD}", "What the models under test cost."),
    Metric(conventions.CALL_DURATION, "s", "Time of a tool call.", CALL_BOUNDS),
)


class MetricsTally:
    """Counts the trials of a run, one after the other."""

    def __init__(self, models: Mapping[str, JsonObject]) -> None:
        """``models`` is what the log's header says of each model."""
        self._models = models
        self._metrics = {metric.name: replace(metric, points={}) for metric in _METRICS}
        self._of_unknown_cost: set[Attributes] = set()

    def add(self, result: TrialResult, transcript: Transcript | None) -> None:
        """Count one trial; without a transcript it was never started."""
        model = self._models.get(result.model, {})
        who = {
            conventions.SUITE: result.suite,
            conventions.PROVIDER: model.get("provider"),
            conventions.REQUEST_MODEL: model.get("model_id") or result.model,
        }
        trial = _build_attributes(who | {conventions.STATUS: result.status})
        self._count(conventions.TRIALS, trial, 1)
        if transcript is None:
            return
        self._count(conventions.TRIAL_DURATION, trial, transcript.latency_s)
        for call in (*transcript.setup_calls, *transcript.tool_calls, *transcript.teardown_calls):
            if call.duration_s > 0:  # else it was never sent
                self._count(conventions.CALL_DURATION, _describe_call(call), call.duration_s)
                failed = call.outcome if call.is_error else None
                told = {conventions.TOOL_NAME: call.tool, conventions.ERROR_TYPE: failed}
                self._count(conventions.TOOL_DURATION, _build_attributes(told), call.duration_s)
        replies = [one.reply for one in transcript.messages if isinstance(one, AssistantMessage)]
        for reply in replies:
            self._add_tokens(who, reply.usage)
        error = result.error.kind if result.error else None
        named = {conventions.AGENT_NAME: result.suite, conventions.ERROR_TYPE: error}
        agent = _build_attributes(named)
        self._count(conventions.AGENT_DURATION, agent, transcript.latency_s)
        self._count(conventions.AGENT_REPLIES, agent, len(replies))
        self._count(conventions.AGENT_CALLS, agent, len(transcript.tool_calls))
        of_model = _build_attributes(who)
        self._count(conventions.RUN_COST, of_model, transcript.usage.cost_usd)
        if transcript.usage.cost_usd is None:
            self._of_unknown_cost.add(of_model)

    def iterate_metrics(self) -> Iterator[Metric]:
        """Yield every metric of which something is known."""
        costs = self._metrics[conventions.RUN_COST].points
        # One unknown cost makes the sum unknown: a part of it would pass for the whole.
        known = {key: cost for key, cost in costs.items() if key not in self._of_unknown_cost}
        for metric in self._metrics.values():
            points = known if metric.name == conventions.RUN_COST else metric.points
            if points:
                yield replace(metric, points=points)

    def _add_tokens(self, who: Mapping[str, str | None], used: Usage) -> None:
        """Count the tokens of one reply."""
        common = {**who, conventions.OPERATION: conventions.CHAT, conventions.SUITE: None}
        # No provider that is read here says which tokens are those of text.
        run = _build_attributes({**common, conventions.MODALITY: "unknown"})
        self._count(conventions.INPUT_TOKENS_USED, run, used.input_tokens)
        self._count(conventions.OUTPUT_TOKENS_USED, run, used.output_tokens)
        self._count(conventions.CACHE_READ_USED, run, used.cache_read_tokens)
        self._count(conventions.CACHE_WRITE_USED, run, used.cache_write_tokens)
        reply = _build_attributes(common)
        self._count(conventions.INPUT_TOKENS_OF_REPLY, reply, used.input_tokens)
        self._count(conventions.OUTPUT_TOKENS_OF_REPLY, reply, used.output_tokens)

    def _count(self, name: str, key: Attributes, value: float | None) -> None:
        """Add ``value``, unless it is unknown, to the metric ``name``."""
        metric = self._metrics[name]
        if value is None:
            return
        if metric.bounds is None:
            metric.points[key] = metric.points.get(key, 0) + value
        else:
            metric.points.setdefault(key, ValueHistogram(metric.bounds)).add(value)


def _describe_call(call: ToolCall) -> Attributes:
    wire = call.wire or Wire()
    return _build_attributes(
        {
            conventions.MCP_METHOD: "tools/call",
            conventions.OPERATION: conventions.EXECUTE_TOOL,
            conventions.TOOL_NAME: call.tool,
            conventions.ERROR_TYPE: call.outcome if call.is_error else None,
            conventions.RPC_STATUS: None if call.error_code is None else str(call.error_code),
            conventions.MCP_PROTOCOL: wire.protocol,
            conventions.TRANSPORT: wire.transport,
        }
    )


def _build_attributes(told: Mapping[str, str | None]) -> Attributes:
    known = {name: value for name, value in told.items() if value is not None}
    return tuple(sorted(KNOWN.redact_json(known).items()))
