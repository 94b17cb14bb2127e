"""The use of tools: offered, called, refused, never used, and mistaken for another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from harness.runlog import RunLog
from harness.types import (
    NOT_SENT,
    CheckResult,
    Report,
    ToolCall,
    Transcript,
    TrialResult,
    dataclass,
)

NO_CALL = "(no other tool)"
"""Stands for the called tool where an expected one was not called, nor any other in its place."""


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """One tool over a whole run."""

    tool: str
    """The server's name for it."""
    offered: int = 0
    """Trials in which the model could have called it."""
    called: int = 0
    """Calls."""
    errors: int = 0
    """Of those, calls that failed for another reason than a refusal."""
    denied: int = 0
    """Of those, calls that the server refused to this user."""
    blocked: int = 0
    """Of those, calls that were not sent: reading alone was allowed, the tool was blocked, a decoy,
    or not loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """All tools of a run."""

    tools: tuple[ToolUsage, ...]
    """In alphabetical order, those that a model made up included (offered: never)."""
    matrix: Mapping[tuple[str, str], int]
    """(expected tool, tool called in its place, itself or `NO_CALL`) → trials."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A tool that was expected and not called, and the tool that was called instead."""

    expected: str
    """The tool that a check asks for."""
    called: str
    """The tool that was called and not asked for, or `NO_CALL`."""
    trials: int
    """Number of trials."""


def tool_facts(report: Report, log: RunLog) -> ToolFacts:
    """Count over every conversation of the report, one at a time."""
    offered: Counter[str] = Counter()
    calls: Counter[tuple[str, str]] = Counter()
    matrix: Counter[tuple[str, str]] = Counter()
    for result in report.results:
        transcript = log.read_transcript(result.key)
        if transcript is not None:
            offered.update(set(transcript.tools))
            calls.update((call.tool, _classify_call(call)) for call in transcript.server_calls)
            matrix.update(_iterate_cells(result, transcript))
    names = sorted({*offered, *(tool for tool, _ in calls)})
    tools = tuple(_build_usage(name, offered[name], calls) for name in names)
    return ToolFacts(tools=tools, matrix=matrix)


def find_confusions(report: Report, log: RunLog) -> list[Confusion]:
    """Return which tools were taken for which, the most frequent first."""
    found: Counter[tuple[str, str]] = Counter()
    for result in report.results:
        if any(check.verdict == "failed" and check.expected_tools for check in result.checks):
            transcript = log.read_transcript(result.key)
            if transcript is not None:
                cells = _iterate_cells(result, transcript)
                found.update(cell for cell in cells if cell[0] != cell[1])
    # Equal ones by name, so that equal logs give equal reports.
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [Confusion(*cell, trials) for cell, trials in ranked]


def expected_tools(checks: Iterable[CheckResult]) -> list[str]:
    """Return the tools that checks ask for, each once, in their order."""
    return list(dict.fromkeys(tool for check in checks for tool in check.expected_tools))


def _iterate_cells(result: TrialResult, transcript: Transcript) -> Iterator[tuple[str, str]]:
    expected = expected_tools(result.checks)
    called = list(dict.fromkeys(call.tool for call in transcript.server_calls))
    instead = [tool for tool in called if tool not in expected] or [NO_CALL]
    for tool in expected:
        if tool in called:
            yield tool, tool
        else:
            yield from ((tool, other) for other in instead)


def _classify_call(call: ToolCall) -> str:
    if call.outcome in NOT_SENT:
        return "blocked"
    return call.outcome if call.outcome in {"ok", "denied"} else "errors"


def _build_usage(name: str, offered: int, calls: Mapping[tuple[str, str], int]) -> ToolUsage:
    ok, *others = (calls.get((name, fate), 0) for fate in ("ok", "errors", "denied", "blocked"))
    return ToolUsage(name, offered, ok + sum(others), *others)
