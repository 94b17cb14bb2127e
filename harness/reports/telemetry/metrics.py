"""A run as metrics, as plain data: trials by status, tokens, cost, times.

They are counted from the log while its traces are made, and say nothing of what is unknown: tokens
that no provider reported are no 0, and a cost of which a part is unknown is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

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
)

Attributes: TypeAlias = tuple[tuple[str, str], ...]
"""Name and value, sorted; what is unknown is left out."""

TOKEN_BOUNDS = tuple(4.0**power for power in range(14))
"""Bounds of tokens, as the conventions advise."""
CALL_BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Bounds of seconds, as the conventions advise for MCP."""
COUNT_BOUNDS = (0, 1, 2, 3, 4, 5, 8, 12, 20, 50, 100)
"""Bounds of replies and calls of one trial."""

_OF_AGENTS = (
    (conventions.AGENT_DURATION, "s", "Time of a trial, waits included."),
    (conventions.AGENT_REPLIES, "{call}", "Replies of the model in a trial."),
    (conventions.AGENT_CALLS, "{call}", "Tool calls of the model in a trial."),
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric over a whole run."""

    name: str
    """Its name."""
    unit: str
    """Its unit, as in UCUM."""
    description: str
    """What it counts."""
    points: Mapping[Attributes, float | ValueHistogram]
    """Attributes → a sum, or how values are spread."""


class MetricsTally:
    """Counts the trials of a run, one after the other."""

    def __init__(self, models: Mapping[str, JsonObject]) -> None:
        """``models`` is what the log's header says of each model."""
        self._models = models
        self._trials: dict[Attributes, float] = {}
        self._times: dict[Attributes, ValueHistogram] = {}
        self._tokens: dict[str, dict[Attributes, float]] = {}
        self._tokens_of_replies: dict[str, dict[Attributes, ValueHistogram]] = {}
        self._agents: dict[str, dict[Attributes, ValueHistogram]] = {}
        self._tools: dict[Attributes, ValueHistogram] = {}
        self._calls: dict[Attributes, ValueHistogram] = {}
        self._cost: dict[Attributes, float | None] = {}

    def add(self, result: TrialResult, transcript: Transcript | None) -> None:
        """Count one trial; without a transcript it was never started."""
        who = self._identify_model(result)
        key = _build_attributes(who | {conventions.STATUS: result.status})
        self._trials[key] = self._trials.get(key, 0) + 1
        if transcript is None:
            return
        self._times.setdefault(key, ValueHistogram(CALL_BOUNDS)).add(transcript.latency_s)
        for call in (*transcript.setup_calls, *transcript.tool_calls, *transcript.teardown_calls):
            if call.duration_s > 0:  # else it was never sent
                self._calls.setdefault(_describe_call(call), ValueHistogram(CALL_BOUNDS)).add(
                    call.duration_s
                )
                self._tools.setdefault(_describe_tool(call), ValueHistogram(CALL_BOUNDS)).add(
                    call.duration_s
                )
        replies = [
            message.reply
            for message in transcript.messages
            if isinstance(message, AssistantMessage)
        ]
        for reply in replies:
            self._add_tokens(who, reply.usage)
        error = result.error.kind if result.error else None
        agent = _build_attributes(
            {conventions.AGENT_NAME: result.suite, conventions.ERROR_TYPE: error}
        )
        for name, bounds, value in (
            (conventions.AGENT_DURATION, CALL_BOUNDS, transcript.latency_s),
            (conventions.AGENT_REPLIES, COUNT_BOUNDS, len(replies)),
            (conventions.AGENT_CALLS, COUNT_BOUNDS, len(transcript.tool_calls)),
        ):
            self._agents.setdefault(name, {}).setdefault(agent, ValueHistogram(bounds)).add(value)
        of_models, cost = _build_attributes(who), transcript.usage.cost_usd
        # One unknown cost makes the sum unknown for good: a part of it would pass for the whole.
        before = self._cost.get(of_models, 0.0)
        self._cost[of_models] = None if cost is None or before is None else before + cost

    def iterate_metrics(self) -> Iterator[Metric]:
        """Yield every metric of which something is known."""
        cost = {key: spent for key, spent in self._cost.items() if spent is not None}
        found = (
            Metric(
                name=conventions.TRIALS,
                unit="{trial}",
                description="Trials of the run.",
                points=self._trials,
            ),
            Metric(
                name=conventions.TRIAL_DURATION,
                unit="s",
                description="Time of a trial, waits included.",
                points=self._times,
            ),
            *(
                Metric(
                    name=name, unit="{token}", description="Tokens of all replies.", points=points
                )
                for name, points in self._tokens.items()
            ),
            *(
                Metric(name=name, unit="{token}", description="Tokens of a reply.", points=points)
                for name, points in self._tokens_of_replies.items()
            ),
            *(
                Metric(name=name, unit=unit, description=words, points=self._agents.get(name, {}))
                for name, unit, words in _OF_AGENTS
            ),
            Metric(
                name=conventions.TOOL_DURATION,
                unit="s",
                description="Time of a tool call, by tool.",
                points=self._tools,
            ),
            Metric(
                name=conventions.RUN_COST,
                unit="{USD}",
                description="What the models under test cost.",
                points=cost,
            ),
            Metric(
                name=conventions.CALL_DURATION,
                unit="s",
                description="Time of a tool call.",
                points=self._calls,
            ),
        )
        yield from (metric for metric in found if metric.points)

    def _add_tokens(self, who: Mapping[str, str | None], used: Usage) -> None:
        """Count the tokens of one reply."""
        common = {**who, conventions.OPERATION: conventions.CHAT, conventions.SUITE: None}
        # No provider that is read here says which tokens are those of text.
        key = _build_attributes({**common, conventions.MODALITY: "unknown"})
        for name, count in (
            (conventions.INPUT_TOKENS_USED, used.input_tokens),
            (conventions.OUTPUT_TOKENS_USED, used.output_tokens),
            (conventions.CACHE_READ_USED, used.cache_read_tokens),
            (conventions.CACHE_WRITE_USED, used.cache_write_tokens),
        ):
            if count is not None:
                points = self._tokens.setdefault(name, {})
                points[key] = points.get(key, 0) + count
        of_reply = _build_attributes(common)
        for name, count in (
            (conventions.INPUT_TOKENS_OF_REPLY, used.input_tokens),
            (conventions.OUTPUT_TOKENS_OF_REPLY, used.output_tokens),
        ):
            if count is not None:
                spreads = self._tokens_of_replies.setdefault(name, {})
                spreads.setdefault(of_reply, ValueHistogram(TOKEN_BOUNDS)).add(count)

    def _identify_model(self, result: TrialResult) -> dict[str, str | None]:
        model = self._models.get(result.model, {})
        return {
            conventions.SUITE: result.suite,
            conventions.PROVIDER: model.get("provider"),
            conventions.REQUEST_MODEL: model.get("model_id") or result.model,
        }


def _describe_tool(call: ToolCall) -> Attributes:
    return _build_attributes(
        {
            conventions.TOOL_NAME: call.tool,
            conventions.ERROR_TYPE: call.outcome if call.is_error else None,
        }
    )


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
