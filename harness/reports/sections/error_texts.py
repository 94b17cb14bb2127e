"""The server's own error texts: after which of them a model came back, and after which it did not.

Only what the server wrote counts: not what a fault put in its place, not a refusal, which is to
stop a model, and no silence. Where a variant shows another text (``errors:`` of a tool), that text
has a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.base import make_one_line, shorten_text
from harness.judging import find_recovery, is_permanent, list_retries
from harness.reports.terminal import table_lines
from harness.runlog import RunLog
from harness.types import REWORDED, Outcome, Report, ToolCall, dataclass

_OWN: frozenset[Outcome] = frozenset({"tool_error", "invalid_arguments", "unknown_tool"})
"""Outcomes whose text the server wrote for the model to read."""
_VARYING = re.compile(r"\"[^\"]*\"|'[^']*'|“[^”]*”|`[^`]*`|\b\w*\d[\w.:-]*")
"""What differs between two errors of one kind: quoted values, numbers, ids."""
_TEXT = 90
_MOST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorText:
    """One error text of a tool, however often it came with other values."""

    tool: str
    """The tool, by the server's name."""
    variant: str | None
    """The variant under which models saw it."""
    text: str
    """The text as a model saw it first."""
    shown: int
    """Calls that it answered."""
    recovered: int
    """Of these, those after which a later call of the tool was good."""
    blind_retries: int
    """Equal calls after it, if it says that they will not help."""
    passed: int
    """Of these, those never made good in trials that passed all the same: it was not in the way."""

    @property
    def lost_count(self) -> int:
        """Of these, those never made good in trials that did not pass."""
        return self.shown - self.recovered - self.passed


def find_error_texts(report: Report, log: RunLog) -> list[ErrorText]:
    """Return the error texts of the run, those first after which most was lost."""
    found: dict[tuple[str, str | None, str], ErrorText] = {}
    for result in report.results:
        if not _OWN.isdisjoint(result.outcomes or ()):
            transcript = log.read_transcript(result.key)
            calls = () if transcript is None else transcript.server_calls
            passed, variant = result.status == "passed", result.axes.get("variant")
            for place, call in enumerate(calls):
                if call.outcome in _OWN and _is_own(call):
                    key = call.tool, variant, _VARYING.sub("…", call.told_text)
                    found[key] = _count_call(found.get(key), variant, calls, place, passed=passed)
    return sorted(found.values(), key=lambda one: (-one.lost_count, -one.shown, one.tool, one.text))


def _is_own(call: ToolCall) -> bool:
    return call.injected is None or call.injected.fault == REWORDED


def _count_call(
    known: ErrorText | None,
    variant: str | None,
    calls: Sequence[ToolCall],
    place: int,
    *,
    passed: bool,
) -> ErrorText:
    call = calls[place]
    recovered = find_recovery(calls, place) is not None
    repeats = len(list(list_retries(calls, place))) if is_permanent(call) else 0
    # Only the next one: its own repeats count for itself.
    blind = min(repeats, 1)
    return ErrorText(
        tool=call.tool,
        variant=variant,
        text=known.text if known else call.told_text,
        shown=(known.shown if known else 0) + 1,
        recovered=(known.recovered if known else 0) + recovered,
        blind_retries=(known.blind_retries if known else 0) + blind,
        passed=(known.passed if known else 0) + (passed and not recovered),
    )


def error_text_lines(report: Report, log: RunLog, width: int) -> Iterator[str]:
    """Yield a table of them within ``width`` and what to do; nothing if nothing was lost by one."""
    texts = find_error_texts(report, log)
    if not any(one.lost_count for one in texts):
        return
    shown = texts[:_MOST]
    columns = [
        ["lost", *(str(one.lost_count) for one in shown)],
        ["shown", *(str(one.shown) for one in shown)],
        ["recovered", *(str(one.recovered) for one in shown)],
        ["blind", *(str(one.blind_retries) for one in shown)],
        ["text", *(_format_text(one) for one in shown)],
    ]
    yield from table_lines(["tool", *(make_one_line(one.tool) for one in shown)], columns, width)
    if len(texts) > _MOST:
        yield f"… and {len(texts) - _MOST} more"
    worst = shown[0]
    yield (
        "lost: never made good, and the trial did not pass. Let the text say what to do next: what "
        "is wrong with the call, whether a repeat helps, and after how long, or which other tool."
    )
    yield (
        "Try one without changing the server, by a variant: tools: {"
        f"{make_one_line(worst.tool)}: {{errors: {{'part of the text': 'the new text'}}}}}}"
    )


def _format_text(one: ErrorText) -> str:
    of = f" [{make_one_line(one.variant)}]" if one.variant else ""
    return f"“{shorten_text(make_one_line(one.text), _TEXT)}”{of}"


def error_texts_json(report: Report, log: RunLog) -> list[dict[str, Any]]:
    """Return them as JSON."""
    return [{**asdict(one), "lost": one.lost_count} for one in find_error_texts(report, log)]
