"""What a log says, line by line: which line counts, and which one takes the place of another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from harness.runlog.attempts import is_still_final, merge_attempts
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
from harness.types import Review, ToolCall, ToolList


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
