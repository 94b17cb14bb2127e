"""The cases of a comparison: a row for each, and both sides of the one that is opened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import bounded, money, number, seconds
from harness.reports.case_names import part_name
from harness.reports.comparing import sentences as words
from harness.reports.comparing.nouns import CasePair
from harness.reports.comparing.page.trials import ShownSide, ShownTrial
from harness.reports.viewer.grid import short
from harness.types import ToolCall, Transcript, UserMessage

_LONGEST = 20_000
"""Characters of one text."""
_MOST_CALLS = 100
_MOST_ARGUMENTS = 100
_MOST_TRIALS = 20
_DEEPEST = 12


def case_row(pair: CasePair, before: ShownSide, after: ShownSide) -> dict[str, Any]:
    """Return the line of a case: how it moved, and what went wrong last."""
    sides = [side.of_case(pair) for side in (before, after)]
    digests = [Counter(result.events_digest for result in trials) for trials in sides]
    troubled = [
        result for trials in reversed(sides) for result in trials if result.status != "passed"
    ]
    return {
        "suite": part_name(pair.suite),
        "case": part_name(pair.case),
        "change": pair.change,
        "before": words.tally(pair.before),
        "after": words.tally(pair.after),
        "alike": digests[0] == digests[1] and None not in digests[0],
        "problem": short(troubled[0].problem, 300) if troubled else "",
    }


def case_pair(pair: CasePair, before: ShownSide, after: ShownSide) -> dict[str, Any]:
    """Return everything that is compared of a case: texts are harmless and bounded."""
    return {
        "before": [_trial(one) for one in before.of_case(pair)[:_MOST_TRIALS]],
        "after": [_trial(one) for one in after.of_case(pair)[:_MOST_TRIALS]],
    }


def _trial(trial: ShownTrial) -> dict[str, Any]:
    said = trial.transcript() or Transcript()
    asked = [message.text for message in said.messages if isinstance(message, UserMessage)]
    usage = trial.usage
    return {
        "number": trial.number,
        "model": short(trial.model),
        "status": trial.status,
        "problem": bounded(trial.problem, _LONGEST),
        "question": bounded("\n\n".join(asked), _LONGEST),
        "calls": [_call(call) for call in said.tool_calls[:_MOST_CALLS]],
        "left_out": max(0, len(said.tool_calls) - _MOST_CALLS),
        "answer": bounded(said.answer, _LONGEST),
        "effort": ", ".join(
            (
                seconds(trial.latency_s),
                f"{number(usage.input_tokens)} + {number(usage.output_tokens)} tokens",
                f"cost {money(usage.cost_usd)}",
            )
        ),
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "tool": short(call.tool),
        "outcome": call.outcome,
        "arguments": [
            [bounded(path, 300), bounded(value, _LONGEST)]
            for path, value in list(_leaves(call.arguments))[:_MOST_ARGUMENTS]
        ],
        "result": bounded(call.text, _LONGEST),
    }


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each innermost value of a JSON value with its path: ``("address.city", '"Rome"')``."""
    if isinstance(value, Mapping) and value and depth < _DEEPEST:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list | tuple) and value and depth < _DEEPEST:
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}[{place}]", depth + 1)
    elif path or value:
        yield path, json.dumps(value, ensure_ascii=False, default=str)
