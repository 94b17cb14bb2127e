"""What a log says, line by line: which line counts, and which one takes the place of another.

Each attempt at a trial has a line of its own: nothing that was found or paid is forgotten. A trial
without a verdict may be asked again: on ``--resume``, or when somebody repeats a test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from harness.runlog.lines import (
    CallLine,
    DamagedLine,
    Footer,
    Header,
    Line,
    ReviewLine,
    ToolsLine,
    TrialLine,
)
from harness.types import (
    DECIDED,
    AssistantMessage,
    Message,
    Reply,
    Review,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialResult,
)


def has_verdict(result: TrialResult) -> bool:
    """Return whether the trial was judged."""
    return result.status in {"passed", "failed"}


def is_still_final(earlier: TrialResult, later: TrialResult) -> bool:
    """Return whether ``earlier`` still says how a trial ended that was asked again.

    No failure becomes a pass, and no verdict is lost to an attempt without one. An attempt that was
    not even started takes the place of nothing.
    """
    if _is_same_attempt(earlier, later):
        return False
    if has_verdict(earlier):
        return earlier.status == "failed" or not has_verdict(later)
    # `DECIDED` is no lack of an attempt: the case needs none any more.
    return later.status == "skipped" != earlier.status and later.skip_reason != DECIDED


def merge_attempts(earlier: TrialResult, later: TrialResult) -> TrialResult:
    """Return what a trial came to that ended like ``earlier`` and, asked again, like ``later``.

    It has what all attempts used, and began with the first of them.
    """
    if _is_same_attempt(earlier, later):
        return later
    return replace(
        earlier if is_still_final(earlier, later) else later,
        usage=earlier.usage + later.usage,
        judge_usage=earlier.judge_usage + later.judge_usage,
        user_usage=earlier.user_usage + later.user_usage,
        started_at=earlier.started_at or later.started_at,
    )


def _is_same_attempt(earlier: TrialResult, later: TrialResult) -> bool:
    """Return whether ``later`` is what the same attempt, or all attempts since then, came to."""
    return earlier.started_at == later.started_at != ""


@dataclass(slots=True)
class LogContent(ABC):
    """What has been read of a log so far; whoever reads one says where its results go."""

    header: Header | None = None
    footer: Footer | None = None
    tools: dict[str, ToolList] = field(default_factory=dict)
    shown: dict[str, ToolsLine] = field(default_factory=dict)
    bad: dict[int, DamagedLine] = field(default_factory=dict)
    reviews: dict[str, Review] = field(default_factory=dict)
    calls: dict[str, dict[str, ToolCall]] = field(default_factory=dict)
    size: int = 0
    lines: int = 0

    @abstractmethod
    def keep_result(self, line: TrialLine, offset: int) -> None:
        """Keep the result in the line at ``offset``, in the place of an earlier one of its trial.

        A trial keeps the place in which its first result stood.
        """

    @abstractmethod
    def get_result(self, key: str) -> tuple[TrialLine, int] | None:
        """Return the line that was kept of the trial with that key, and where it begins."""

    @abstractmethod
    def forget_result(self, key: str) -> None:
        """Forget the result of the trial with that key: its last line is damaged."""

    def take_line(self, number: int, offset: int, line: Line | DamagedLine) -> None:
        """Take in any line but the first."""
        if isinstance(line, DamagedLine):
            self._take_damaged(number, line)
        elif isinstance(line, TrialLine):
            key = line.run.key
            self.reviews.pop(key, None)  # it was on what the trial was before
            self.keep_result(*self._merge_earlier(line, offset))
            # What a damaged line lost of this trial is known again.
            self.bad = {place: one for place, one in self.bad.items() if one.key != key}
            self.calls.pop(key, None)
            # A trial behind a footer: the run was resumed, and has not ended again.
            self.footer = None
        elif isinstance(line, ToolsLine):
            if line.variant is None:
                self.tools[line.tools.digest] = line.tools
            else:
                self.shown[line.tools.digest] = line
        elif isinstance(line, CallLine):
            self.calls.setdefault(line.call_of, {})[line.call.request_id] = line.call
        elif isinstance(line, ReviewLine):
            self.reviews[line.review.key] = line.review
        elif isinstance(line, Footer):
            self.footer = line

    def _merge_earlier(self, line: TrialLine, offset: int) -> tuple[TrialLine, int]:
        """Return what is known of the trial after the attempt in ``line``, and where it stands."""
        known = self.get_result(line.run.key)
        if known is None:
            return line, offset
        earlier, place = known
        run = merge_attempts(earlier.run, line.run)
        if is_still_final(earlier.run, line.run):
            return replace(earlier, run=run), place
        return replace(line, run=run), offset

    def _take_damaged(self, number: int, line: DamagedLine) -> None:
        self.bad[number] = line
        # One of an unknown kind may be a trial's, behind which an earlier footer says nothing.
        if line.kind not in {"tools", "review", "call"}:
            self.footer = None
        if line.key is not None:
            self.forget_result(line.key)


def build_partial_line(
    result: TrialResult, transcript: Transcript, calls: Collection[ToolCall]
) -> TrialLine:
    """Return the line of a trial that has begun as ``result`` and ``transcript`` say.

    ``calls`` are those that it made until it was cut off.
    """
    took = max((call.started_s + (call.duration_s or 0.0) for call in calls), default=0.0)
    known: dict[str, Any] = {
        # Answers without a call are not known: they were in the memory of whoever was killed.
        "replies": max((call.reply for call in calls), default=0),
        "latency_s": round(took, 6),
    }
    messages = (*transcript.messages, *build_conversation(calls))
    return TrialLine(
        run=replace(result, outcomes=Counter[str](call.outcome for call in calls), **known),
        transcript=replace(transcript, messages=messages, tool_calls=tuple(calls), **known),
    )


def build_conversation(calls: Iterable[ToolCall]) -> tuple[Message, ...]:
    """Return calls as replies of a model, each followed by what it was told."""
    told: list[Message] = []
    by_reply = attrgetter("reply")
    # `groupby` joins only neighbours, and calls of one reply may be answered in any order.
    for _, made in groupby(sorted(calls, key=by_reply), key=by_reply):
        asked, answers = [], []
        for call in made:
            asked.append(ToolRequest(id=call.request_id, tool=call.tool, arguments=call.arguments))
            answers.append(
                ToolAnswer(
                    request_id=call.request_id, text=call.told_text, is_error=call.told_as_error
                )
            )
        told += [
            AssistantMessage(reply=Reply(tool_requests=tuple(asked), stop="tool_calls")),
            ToolMessage(answers=tuple(answers)),
        ]
    return tuple(told)
