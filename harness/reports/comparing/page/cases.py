"""The cases of a comparison: a row for each, and both sides of the one that is opened."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.reports.comparing import sentences as words
from harness.reports.comparing.nouns import CasePair, Side
from harness.reports.sections.sentences import problem
from harness.reports.viewer.grid import short
from harness.runlog import RunLog
from harness.safe_text import bounded, money, number, seconds
from harness.types import ToolCall, ToolList, Transcript, TrialResult, UserMessage

_LONGEST = 20_000
"""Characters of one text."""
_MOST_CALLS = 100
_MOST_ARGUMENTS = 100
_MOST_TRIALS = 20
_DEEPEST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTrials:
    """The trials of one side, by suite and case, and their conversations."""

    log: RunLog
    """Its log."""
    trials: Mapping[tuple[str, str], Sequence[TrialResult]]
    """Suite and case → the trials of the side's model, judged."""

    @classmethod
    def of(cls, side: Side, log: RunLog, results: Iterable[TrialResult]) -> SideTrials:
        """Find the trials of ``side`` among the judged ``results`` of ``log``."""
        found: dict[tuple[str, str], list[TrialResult]] = defaultdict(list)
        for result in results:
            if result.model == side.model:
                found[result.suite, result.case.name].append(result)
        return cls(log=log, trials=found)

    def shown_tools(self, names: Iterable[tuple[str, str]]) -> dict[str, ToolList]:
        """Return the tool lists that the model was shown in those cases."""
        variants = {digest: line.tools for digest, line in self.log.shown.items()}
        known = {**self.log.tools, **variants}
        if len(known) < 2:  # noqa: PLR2004 - no conversation needs to be read
            return known
        first = (self.trials[name][0] for name in names if self.trials.get(name))
        said = (self.log.transcript(result.key) for result in first)
        digests = {one.shown_digest or one.tools_digest for one in said if one is not None}
        return {digest: known[digest] for digest in known if digest in digests}

    def of_case(self, pair: CasePair) -> Sequence[TrialResult]:
        """Return the trials of a case."""
        return self.trials.get((pair.suite, pair.case), ())


def case_row(pair: CasePair, before: SideTrials, after: SideTrials) -> dict[str, Any]:
    """Return the line of a case: how it moved, and what went wrong last."""
    sides = [side.of_case(pair) for side in (before, after)]
    digests = [Counter(result.events_digest for result in trials) for trials in sides]
    troubled = [
        result for trials in reversed(sides) for result in trials if result.status != "passed"
    ]
    return {
        "suite": short(pair.suite),
        "case": short(pair.case),
        "change": pair.change,
        "before": words.tally(pair.before),
        "after": words.tally(pair.after),
        "alike": digests[0] == digests[1] and None not in digests[0],
        "problem": short(problem(troubled[0]), 300) if troubled else "",
    }


def case_pair(pair: CasePair, before: SideTrials, after: SideTrials) -> dict[str, Any]:
    """Return everything that is compared of a case: texts are harmless and bounded."""
    return {
        "before": [_trial(result, before.log) for result in before.of_case(pair)[:_MOST_TRIALS]],
        "after": [_trial(result, after.log) for result in after.of_case(pair)[:_MOST_TRIALS]],
    }


def _trial(result: TrialResult, log: RunLog) -> dict[str, Any]:
    said = log.transcript(result.key) or Transcript()
    asked = [message.text for message in said.messages if isinstance(message, UserMessage)]
    usage = result.usage
    return {
        "number": result.index + 1,
        "model": short(result.model),
        "status": result.status,
        "problem": bounded(problem(result), _LONGEST) if result.status != "passed" else "",
        "question": bounded("\n\n".join(asked), _LONGEST),
        "calls": [_call(call) for call in said.tool_calls[:_MOST_CALLS]],
        "left_out": max(0, len(said.tool_calls) - _MOST_CALLS),
        "answer": bounded(said.answer, _LONGEST),
        "effort": ", ".join(
            (
                seconds(result.latency_s),
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
