"""Finds tools that told of failures without marking them, in the calls of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.base import format_count
from harness.descriptions.linting.findings import (
    Family,
    LintFinding,
    Rule,
    specification_evidence,
)
from harness.judging import find_failure_words
from harness.reports import list_server_names
from harness.runlog import RunLog
from harness.types import Outcome, ToolCall

_MARKED: frozenset[Outcome] = frozenset(("tool_error", "denied", "invalid_arguments"))
"""How a call ends whose failure the server marks."""


def read_failed_calls(log: RunLog, server: str) -> Iterator[ToolCall]:
    """Yield the calls of ``server`` in a run that failed, whether the server marked that or not."""
    for result, transcript in log:
        names = list_server_names(log.header.suites, result.suite)
        if transcript is None or (server not in names and {*log.header.servers} != {server}):
            continue
        for call in transcript.tool_calls:
            if call.outcome in _MARKED or find_failure_words(call):
                yield call


def check_failed_calls(calls: Sequence[ToolCall]) -> Iterator[LintFinding]:
    """Yield a finding for each tool with a failure that reads like one and is not marked."""
    words: dict[str, list[str | None]] = defaultdict(list)
    for call in calls:
        words[call.tool].append(find_failure_words(call))
    for tool, told in words.items():
        unmarked = list(dict.fromkeys(filter(None, told)))
        if not unmarked:
            continue
        count = sum(map(bool, told))
        more = len(unmarked) - 1
        others = f" (and {format_count(more, 'other text')})" if more else ""
        verb = "says" if count == 1 else "say"
        yield LintFinding(
            rule="unmarked-failure",
            tool=tool,
            message=f"{count} of {format_count(len(told), 'failing call')} {verb} "
            f"{unmarked[0]!r}{others} without isError.",
        )


FAMILY = Family(
    check=lambda _: (),
    check_calls=check_failed_calls,
    rules={
        "unmarked-failure": Rule(
            severity="warning",
            why="Clients and checks take the call for a success, and a model may pass the text on "
            "as the answer.",
            instead="Set isError in the result and keep its text; in most SDKs it is enough that "
            "the tool raises an error with that text.",
            evidence=specification_evidence(
                "a tool tells of its failure by isError, with words that let a model correct itself"
            ),
        )
    },
)
"""The rule on failures."""
