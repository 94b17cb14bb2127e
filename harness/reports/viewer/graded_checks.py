"""The graded check of a trial: its three metrics, and the expected calls with what was called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.reports.sections.tool_use import expected_tools
from harness.types import CheckResult, JsonObject, ToolCall, Transcript, TrialResult

METRICS = ("tool_selection", "argument_match", "faithfulness")
"""The metrics of a graded case."""
_EDGES = (0.4, 0.7, 0.9)
_MOST = 100


def score_words(score: float | None) -> str:
    """Return a score with two digits, never rounded up into a band that it did not reach."""
    if score is None:
        return "–"
    rounded = round(score, 2)
    over = any(score < edge <= rounded for edge in _EDGES)
    return f"{rounded - 0.01 if over else rounded:.2f}"


def graded_detail(
    result: TrialResult, said: Transcript, text: Callable[[Any], str]
) -> dict[str, Any] | None:
    """Return the metrics, the expected calls and the calls of a graded trial; else ``None``.

    ``text`` makes a JSON value readable, harmless and bounded.
    """
    check = graded_check(result)
    if check is None:
        return None
    pairs = get_pairs(check)
    called = {call.tool for call in said.server_calls}
    metrics = get_metrics(check)
    faith = metrics.get("faithfulness", {})
    shown = (
        [{"tool": tool, "met": tool in called} for tool in expected_tools(result.checks)]
        if pairs is None
        else [
            {
                "tool": pair["tool"],
                "met": pair["actual"] is not None,
                "score": score_words(pair["score"]),
                "expected": text(pair["expected"]),
                "actual": text(pair["actual"]),
            }
            for pair in pairs
        ]
    )
    return {
        "metrics": [
            {
                "title": name.replace("_", " ").capitalize(),
                "score": facts.get("score"),
                "text": score_words(facts.get("score")),
                "label": text(facts.get("label")),
            }
            for name, facts in metrics.items()
        ],
        "pairs": [{**pair, "tool": text(pair["tool"])} for pair in shown[:_MOST]],
        "calls": [
            {"tool": text(call.tool), "expected": expected}
            for call, expected in mark_calls(result, said, _MOST)
        ],
        "explanation": text(faith.get("explanation")),
        "judge": text(faith.get("judge")),
    }


def mark_calls(result: TrialResult, said: Transcript, most: int) -> Iterator[tuple[ToolCall, bool]]:
    """Yield the first calls of a trial, each with whether it was expected."""
    marked = graded_facts(graded_check(result)).get("calls") or ()
    wanted = set(expected_tools(result.checks))
    for place, call in enumerate(said.server_calls[:most]):
        known = place < len(marked)
        yield call, bool(marked[place]["expected"]) if known else call.tool in wanted


def graded_check(result: TrialResult) -> CheckResult | None:
    """Return the graded check of a trial, if there is one."""
    return next((check for check in result.checks if "grades" in check.traits), None)


def graded_facts(check: CheckResult | None) -> JsonObject:
    """Return what a graded check found; nothing if there is no such check."""
    return check.actual if check is not None and isinstance(check.actual, Mapping) else {}


def get_metrics(check: CheckResult | None) -> dict[str, Mapping[str, Any]]:
    """Return the facts of each metric that was measured, as they are in the log."""
    facts = graded_facts(check).get("metrics", {})
    return {name: facts[name] for name in METRICS if isinstance(facts.get(name), Mapping)}


def get_pairs(check: CheckResult | None) -> list[Mapping[str, Any]] | None:
    """Return each expected call with the arguments that came nearest: ``{tool, expected, …}``.

    ``None``: no arguments were compared.
    """
    pairs = graded_facts(check).get("metrics", {}).get("argument_match", {}).get("pairs")
    return list(pairs) if isinstance(pairs, list | tuple) else None
