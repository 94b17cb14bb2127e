"""The cases of a comparison, both sides of the one that is opened, and the tools that differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from harness.base import format_money, format_number, format_seconds, limit_text
from harness.judging import case_results, judge_log
from harness.reports.case_names import part_name
from harness.reports.comparing import sentences
from harness.reports.comparing.comparison_types import CaseName, CasePair
from harness.reports.sections.sentences import format_problem
from harness.reports.viewer.grid import shorten_line
from harness.runlog import RunLog, ToolsLine, read_log, tool_forms
from harness.types import (
    SEARCH,
    JsonObject,
    Status,
    Tool,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
    Usage,
    UserMessage,
    dataclass,
)

ToolLists: TypeAlias = Mapping[str, ToolList]
"""Digest → tool list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTrial:
    """A trial as far as the page shows it."""

    number: int
    """Number of the repeat, from 1."""
    model: str
    """Name of the model."""
    status: Status
    """Its status, judged."""
    problem: str
    """The first problem, on one line; empty if it passed."""
    usage: Usage
    """Its tokens and cost."""
    latency_s: float
    """Its seconds."""
    events_digest: str | None
    """`TrialResult.events_digest`."""
    transcript: Callable[[], Transcript | None]
    """Reads the conversation; ``None`` if nothing was started."""


class PageRun(Protocol):
    """A run of which the page shows trials."""

    @property
    def tools(self) -> ToolLists:
        """Digest → tool list, those of servers and those that a model was shown in their place."""
        ...

    def list_trials(self, model: str, name: CaseName) -> Sequence[PageTrial]:
        """Return the trials of a case with a model, in the order of a report."""
        ...


Opener: TypeAlias = Callable[[Path, bool], AbstractContextManager[PageRun]]
"""Opens the run in a log; with people's verdicts in place of the machine's, if that is true."""


@dataclass(frozen=True, slots=True)
class PageSide:
    """The trials of one side."""

    run: PageRun
    """Its run."""
    model: str
    """Its model."""

    def list_trials(self, pair: CasePair) -> Sequence[PageTrial]:
        """Return the trials of a case."""
        return self.run.list_trials(self.model, (pair.suite, pair.case))

    def select_tools(self, names: Iterable[CaseName]) -> ToolLists:
        """Return the tool lists that the model was shown in those cases."""
        known = self.run.tools
        if len(known) < 2:  # noqa: PLR2004 - no conversation needs to be read
            return known
        first = (trials[0] for name in names if (trials := self.run.list_trials(self.model, name)))
        said = (one.transcript() for one in first)
        digests = {one.shown_digest or one.tools_digest for one in said if one is not None}
        return {digest: known[digest] for digest in known if digest in digests}


def known_tools(tools: ToolLists, shown: Mapping[str, ToolsLine]) -> ToolLists:
    """Return `PageRun.tools` of a log with those lists."""
    return {**tools, **{digest: line.tools for digest, line in shown.items()}}


@contextmanager
def judged_run(path: Path, by_people: bool) -> Iterator[PageRun]:  # noqa: FBT001 - see `Opener`
    """Read the whole log at ``path`` and judge it.

    Raises:
        InvalidInput, OSError: it cannot be read.
    """
    log = read_log(path)
    log = log.apply_reviews() if by_people else log
    cases = case_results(judge_log(log).results)
    yield _JudgedRun(log, {(one.entrant, (one.suite, one.case)): one.trials for one in cases})


@dataclass(frozen=True, slots=True)
class _JudgedRun:
    log: RunLog
    results: Mapping[tuple[str, CaseName], Sequence[TrialResult]]

    @property
    def tools(self) -> ToolLists:
        return known_tools(self.log.tools, self.log.shown)

    def list_trials(self, model: str, name: CaseName) -> Sequence[PageTrial]:
        return [
            PageTrial(
                number=result.trial,
                model=result.entrant,
                status=result.status,
                problem=format_problem(result),
                usage=result.usage,
                latency_s=result.latency_s,
                events_digest=result.events_digest,
                transcript=partial(self.log.read_transcript, result.key),
            )
            for result in self.results.get((model, name), ())
        ]


_LONGEST = 20_000
"""Characters of one text."""
_MOST_CALLS = 100
_MOST_ARGUMENTS = 100
_MOST_TRIALS = 20
_DEEPEST = 12


def case_row(pair: CasePair, before: PageSide, after: PageSide) -> JsonObject:
    """Return the line of a case: how it moved, and what went wrong last."""
    sides = [side.list_trials(pair) for side in (before, after)]
    digests = [Counter(result.events_digest for result in trials) for trials in sides]
    trouble = (one.problem for one in (*sides[1], *sides[0]) if one.status != "passed")
    # Only of what changed: of a case that stayed the same, no conversation is read for its line.
    said = {} if pair.change == "same" else _encode_first_lines(sides)
    return {
        "suite": part_name(pair.suite),
        "case": part_name(pair.case),
        "change": pair.change,
        "before": sentences.format_tally(pair.before),
        "after": sentences.format_tally(pair.after),
        # Of two unknown digests nobody knows whether they are equal.
        "alike": digests[0] == digests[1] and None not in digests[0],
        "problem": shorten_line(next(trouble, ""), 300),
        **said,
    }


def _encode_first_lines(sides: Sequence[Sequence[PageTrial]]) -> JsonObject:
    """Return what was asked, and the first line of the most telling answer of each side."""
    telling = [
        next((one for one in trials if one.status != "passed"), next(iter(trials), None))
        for trials in sides
    ]
    said = [(one.transcript() if one else None) or Transcript() for one in telling]
    asked = next((text for one in said if (text := _find_question(one))), "")
    lines = [shorten_line(one.answer.strip().partition("\n")[0], 300) for one in said]
    return {"question": shorten_line(asked, 300), "lines": lines}


def _find_question(said: Transcript) -> str:
    return next((one.text for one in said.messages if isinstance(one, UserMessage)), "")


def encode_pair(pair: CasePair, before: PageSide, after: PageSide) -> JsonObject:
    """Return everything that is compared of a case: texts are harmless and bounded."""
    return {
        "before": [_encode_trial(trial) for trial in before.list_trials(pair)[:_MOST_TRIALS]],
        "after": [_encode_trial(trial) for trial in after.list_trials(pair)[:_MOST_TRIALS]],
    }


def _encode_trial(trial: PageTrial) -> JsonObject:
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
        "calls": [_encode_call(call, trial.status) for call in said.tool_calls[:_MOST_CALLS]],
        "left_out": max(0, len(said.tool_calls) - _MOST_CALLS),
        "answer": limit_text(said.answer, _LONGEST),
        "effort": f"{format_seconds(trial.latency_s)}, {tokens}, {cost}",
    }


def _encode_call(call: ToolCall, status: Status) -> JsonObject:
    return {
        # A refusal in a trial that passed is what its suite asks for, or does not mind.
        "fine": call.outcome in {"ok", SEARCH} or (status, call.outcome) == ("passed", "denied"),
        "tool": shorten_line(call.tool),
        "outcome": call.outcome,
        "arguments": [
            [limit_text(path, 300), limit_text(value, _LONGEST)]
            for path, value in list(_iterate_leaves(call.arguments))[:_MOST_ARGUMENTS]
        ],
        "result": limit_text(call.told_text, _LONGEST),
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


_MOST = 200
_PARTS = ("title", "description", "input_schema", "output_schema", "read_only", "destructive")


def changed_tools(before: ToolLists, after: ToolLists) -> list[dict[str, Any]]:
    """Return each tool that differs: ``{name, change, parts: [{part, before, after}]}``.

    ``change`` is ``new``, ``gone`` or ``changed``. Where users see a tool in several forms, form is
    compared with form.
    """
    # A side that listed no tools, for example after a failed start, has not lost all of them.
    if set(before) == set(after) or not before or not after:
        return []
    old, new = tool_forms(before), tool_forms(after)
    found = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name, []), new.get(name, [])
        if was == now:
            continue
        change = "new" if not was else "gone" if not now else "changed"
        pairs = zip_longest(was, now)
        parts = [part for one, other in pairs for part in _compare_parts(one, other)]
        found.append({"name": shorten_line(name), "change": change, "parts": parts})
    return found[:_MOST]


def _compare_parts(one: Tool | None, other: Tool | None) -> Iterator[dict[str, str]]:
    for part in _PARTS:
        was, now = getattr(one, part, None), getattr(other, part, None)
        if was != now:
            name, before, after = part.replace("_", " "), _format_value(was), _format_value(now)
            yield {"part": name, "before": before, "after": after}


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=dict)
    return limit_text(value, _LONGEST)
