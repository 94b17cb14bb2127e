"""The cases of a comparison: a row for each, and both sides of the one that is opened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import format_money, format_number, format_seconds, limit_text
from harness.reports.case_names import part_name
from harness.reports.comparing import sentences
from harness.reports.comparing.comparison_types import CasePair
from harness.reports.comparing.page.trials import PageSide, PageTrial
from harness.reports.viewer.grid import shorten_line
from harness.types import ToolCall, Transcript, UserMessage

_LONGEST = 20_000
"""Characters of one text."""
_MOST_CALLS = 100
_MOST_ARGUMENTS = 100
_MOST_TRIALS = 20
_DEEPEST = 12


def case_row(pair: CasePair, before: PageSide, after: PageSide) -> dict[str, Any]:
    """Return the line of a case: how it moved, and what went wrong last."""
    sides = [side.list_trials(pair) for side in (before, after)]
    digests = [Counter(result.events_digest for result in trials) for trials in sides]
    trouble = (one.problem for one in (*sides[1], *sides[0]) if one.status != "passed")
    return {
        "suite": part_name(pair.suite),
        "case": part_name(pair.case),
        "change": pair.change,
        "before": sentences.format_tally(pair.before),
        "after": sentences.format_tally(pair.after),
        # Of two unknown digests nobody knows whether they are equal.
        "alike": digests[0] == digests[1] and None not in digests[0],
        "problem": shorten_line(next(trouble, ""), 300),
    }


def encode_pair(pair: CasePair, before: PageSide, after: PageSide) -> dict[str, Any]:
    """Return everything that is compared of a case: texts are harmless and bounded."""
    return {
        "before": [_encode_trial(trial) for trial in before.list_trials(pair)[:_MOST_TRIALS]],
        "after": [_encode_trial(trial) for trial in after.list_trials(pair)[:_MOST_TRIALS]],
    }


def _encode_trial(trial: PageTrial) -> dict[str, Any]:
    said = trial.transcript() or Transcript()
    asked = [message.text for message in said.messages if isinstance(message, UserMessage)]
    usage = trial.usage
    tokens = f"{format_number(usage.input_tokens)} + {format_number(usage.output_tokens)} tokens"
    cost = f"cost {format_money(usage.cost_usd)}"
    return {
        "number": trial.number,
        "model": shorten_line(trial.model),
        "status": trial.status,
        "problem": limit_text(trial.problem, _LONGEST),
        "question": limit_text("\n\n".join(asked), _LONGEST),
        "calls": [_encode_call(call) for call in said.tool_calls[:_MOST_CALLS]],
        "left_out": max(0, len(said.tool_calls) - _MOST_CALLS),
        "answer": limit_text(said.answer, _LONGEST),
        "effort": f"{format_seconds(trial.latency_s)}, {tokens}, {cost}",
    }


def _encode_call(call: ToolCall) -> dict[str, Any]:
    return {
        "tool": shorten_line(call.tool),
        "outcome": call.outcome,
        "arguments": [
            [limit_text(path, 300), limit_text(value, _LONGEST)]
            for path, value in list(_iterate_leaves(call.arguments))[:_MOST_ARGUMENTS]
        ],
        "result": limit_text(call.text, _LONGEST),
    }


def _iterate_leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each innermost value of a JSON value with its path: ``("address.city", '"Rome"')``."""
    if isinstance(value, Mapping) and value and depth < _DEEPEST:
        for key, item in value.items():
            yield from _iterate_leaves(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple) and value and depth < _DEEPEST:
        for place, item in enumerate(value):
            yield from _iterate_leaves(item, f"{path}[{place}]", depth + 1)
    elif path or value:
        yield path, json.dumps(value, ensure_ascii=False, default=str)
