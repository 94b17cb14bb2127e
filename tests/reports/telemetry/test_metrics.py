"""Metrics of a run: what is counted, and what is left out because it is unknown."""

from __future__ import annotations

from dataclasses import replace

from harness.reports.telemetry import conventions as names
from harness.reports.telemetry.metrics import CALL_BOUNDS, Metric, MetricsTally, ValueHistogram
from harness.types import Usage
from tests.reports.telemetry.test_conventions import unknown
from tests.reports.telemetry.test_spans import MODEL, RUN, TRANSCRIPT


def counted(*trials: tuple[object, object]) -> dict[str, Metric]:
    tally = MetricsTally({"claude-4-sonnet": MODEL})
    for run, transcript in trials:
        tally.add(run, transcript)  # type: ignore[arg-type]
    return {metric.name: metric for metric in tally.iterate_metrics()}


def test_trials_are_counted_by_status_and_those_that_never_began_too() -> None:
    skipped = replace(RUN, status="skipped", skip_reason="budget")
    found = counted((RUN, TRANSCRIPT), (RUN, TRANSCRIPT), (skipped, None))
    points = found["harness.trials"].points
    statuses = {dict(key)["harness.status"]: count for key, count in points.items()}
    assert statuses == {"failed": 2, "skipped": 1}
    assert len(found["harness.trial.duration"].points) == 1


def test_tokens_that_no_provider_reported_are_no_zero() -> None:
    found = counted((RUN, TRANSCRIPT))
    # Two replies: both tell what they read, one alone what it wrote.
    for kind, replies, tokens in (("input_tokens", 2, 40), ("output_tokens", 1, 5)):
        (spread,) = found[f"gen_ai.client.inference.operation.{kind}"].points.values()
        assert isinstance(spread, ValueHistogram)
        assert (sum(spread.counts), spread.total) == (replies, tokens)
        ((key, total),) = found[f"gen_ai.client.inference.usage.{kind}"].points.items()
        assert total == tokens
        assert dict(key)["gen_ai.token.modality"] == "unknown"


def test_a_trial_is_an_invocation_of_an_agent_with_its_replies_and_calls() -> None:
    found = counted((RUN, TRANSCRIPT), (RUN, TRANSCRIPT))
    for name, total in (
        ("duration", 2 * TRANSCRIPT.latency_s),
        ("inference_calls", 4),
        ("tool_calls", 2 * len(TRANSCRIPT.tool_calls)),
    ):
        (spread,) = found[f"gen_ai.invoke_agent.{name}"].points.values()
        assert isinstance(spread, ValueHistogram)
        assert (sum(spread.counts), spread.total) == (2, total)


def test_a_cost_of_which_a_part_is_unknown_is_left_out() -> None:
    paid = replace(TRANSCRIPT, usage=Usage(cost_usd=0.25))
    assert "harness.cost" not in counted((RUN, paid), (RUN, TRANSCRIPT))
    (spent,) = counted((RUN, paid), (RUN, paid))["harness.cost"].points.values()
    assert spent == 0.5


def test_calls_that_were_sent_are_timed_by_tool_and_outcome() -> None:
    expected = {
        ("seed", None): 0.25,
        ("get_order", None): 1.0,
        ("get_user", "denied"): 0.5,
        ("clean", None): 0.25,
    }
    for name in ("mcp.client.operation.duration", "gen_ai.execute_tool.duration"):
        points = counted((RUN, TRANSCRIPT))[name].points
        assert {
            (dict(key)["gen_ai.tool.name"], dict(key).get("error.type")): spread.total
            for key, spread in points.items()
        } == expected
    unsent = replace(TRANSCRIPT.tool_calls[0], outcome="blocked", duration_s=0.0)
    only = replace(TRANSCRIPT, setup_calls=(), teardown_calls=(), tool_calls=(unsent,))
    assert "mcp.client.operation.duration" not in counted((RUN, only))


def test_a_value_on_a_bound_is_in_the_bucket_below_it() -> None:
    spread = ValueHistogram(CALL_BOUNDS)
    for value in (0.001, 0.01, 0.011, 1000.0):
        spread.add(value)
    assert (spread.counts[:2], spread.counts[-1]) == ([2, 1], 1)
    assert (spread.least, spread.most) == (0.001, 1000.0)


def test_every_metric_is_one_of_the_conventions_or_ours() -> None:
    paid = replace(TRANSCRIPT, usage=Usage(cost_usd=0.25))
    found = counted((RUN, paid))
    assert len(found) == 14
    assert unknown(set(found)) == set()
    table = {value for value in vars(names).values() if isinstance(value, str)}
    for metric in found.values():
        assert metric.name in table
        assert all({name for name, _ in key} <= table for key in metric.points)
