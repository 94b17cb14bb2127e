"""Reads a run log: its results, and conversations, which are left in the file until asked for."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from harness.base import HarnessError, InvalidInput, Problem
from harness.runlog.content import LogContent, build_partial_line
from harness.runlog.held_transcripts import HeldTranscripts
from harness.runlog.interning import ResultInterner
from harness.runlog.lines import (
    DamagedLine,
    Footer,
    Header,
    Line,
    ToolsLine,
    TrialLine,
    build_damaged_line,
    parse_line,
)
from harness.runlog.on_disk.latest_results import LatestResults
from harness.runlog.writer import LogWriter
from harness.types import Location, Review, ToolList, Transcript, TrialResult, dataclass

MOST_IN_MEMORY = 20_000
"""Results of a log that are held in memory: about 20 MB; those of a larger one are on disk."""


@dataclass(frozen=True, slots=True)
class RunLog:
    """A log as read: its results; conversations are left in the file until they are asked for."""

    path: Path
    """The file."""
    header: Header
    """Its first line."""
    results: Sequence[TrialResult]
    """The last result of each trial, in the order in which they were first written; those of a
    large log are in a file (`on_disk`)."""
    tools: Mapping[str, ToolList]
    """Digest → tool list."""
    footer: Footer | None
    """``None`` when the run was interrupted, or is under way."""
    _offsets: Mapping[str, int]
    damaged: tuple[DamagedLine, ...] = ()
    """Lines that cannot be read, but for those of trials that were run again since."""
    shown: Mapping[str, ToolsLine] = field(default_factory=dict)
    """Digest → the list that a model was shown under a variant, in place of the server's."""

    reviews: Mapping[str, Review] = field(default_factory=dict)
    """Key of a trial → what a person said of its verdict."""
    by_people: bool = False
    """Whether a person's verdict takes the place of the machine's when the log is judged."""
    size: int = 0
    """Bytes of the file that were read; it may have grown since."""
    lines: int = 0
    """Number of lines that were read."""
    held: HeldTranscripts | None = field(default=None, repr=False)
    """Conversations that need not be read from the file again (`hold_transcripts`)."""

    def apply_reviews(self) -> RunLog:
        """Return the same log, with people's verdicts in place of the machine's."""
        return replace(self, by_people=True)

    @property
    def tools_lines(self) -> Iterator[ToolsLine]:
        """Every list, as a log of the same trials is to begin with."""
        server = next(iter(self.header.servers), "")
        yield from (ToolsLine(server=server, tools=tools) for tools in self.tools.values())
        yield from self.shown.values()

    @property
    def complaints(self) -> tuple[str, ...]:
        """Sentences for the user about `damaged`, one a line."""
        return tuple(one.describe(str(self.path)) for one in self.damaged)

    def read_transcript(self, key: str) -> Transcript | None:
        """Return the conversation of the trial with that key; ``None`` if it has none."""
        if key not in self:
            return None
        held = None if self.held is None else self.held.find(self._offsets[key])
        return self.read_trial(key).transcript if held is None else held

    def read_trial(self, key: str) -> TrialLine:
        """Return the last line of the trial with that key."""
        # Read from the file again: conversations are what makes a log large.
        line = parse_line(self.read_raw_line(key))
        assert isinstance(line, TrialLine)
        return line

    def get_offset(self, key: str) -> int:
        """Return where in the file the last line of the trial with that key begins."""
        return self._offsets[key]

    def __contains__(self, key: str) -> bool:
        """Return whether the log has a trial with that key; a report also has what is missing."""
        return key in self._offsets

    def read_raw_line(self, key: str) -> bytes:
        """Return that line as it is written."""
        with self.path.open("rb") as file:
            file.seek(self._offsets[key])
            return file.readline()

    def hold_transcripts(self) -> RunLog:
        """Return the same log, which holds the conversations that `read_further` comes upon.

        For a log that its own writer judges several times while it grows.
        """
        return replace(self, held=HeldTranscripts())

    def read_further(self) -> RunLog:
        """Return the log with what has been written to its file since it was read.

        For whoever writes it and reads it meanwhile: calls of sessions that were cut off by a kill
        (see `read_log`) are not looked for.
        """
        # Results on disk belong to the log as it was read, so nothing can be added to them.
        if isinstance(self.results, LatestResults):
            return _take_new_lines(StoredContent(path=self.path), lambda _: None).build_log()
        known = StoredContent(
            path=self.path,
            header=self.header,
            footer=self.footer,
            runs={result.key: result for result in self.results},
            tools={**self.tools},
            shown={**self.shown},
            offsets={**self._offsets},
            bad={one.line or 0: one for one in self.damaged},
            reviews={**self.reviews},
            size=self.size,
            lines=self.lines,
            held=self.held,
        )
        return _take_new_lines(known).build_log()

    def __iter__(self) -> Iterator[tuple[TrialResult, Transcript | None]]:
        """Yield every result with its conversation, one at a time."""
        for result in self.results:
            yield result, self.read_transcript(result.key)


def read_log(path: Path, read_to: Callable[[int], None] = lambda _: None) -> RunLog:
    """Read the log at ``path``, complete or interrupted; a damaged line loses only its own content.

    The result of a trial whose last line is damaged is unknown: it counts as cut off. ``read_to``
    is told where each line ends, so that somebody who waits can be told how far it is.

    A session that was cut off by a kill gets the line of what is known of it, behind its calls.

    Raises:
        InvalidInput: the file is no run log, or its header is damaged.
    """
    found = _take_new_lines(StoredContent(path=path), read_to)
    log = found.build_log()
    # While the session goes on, its own process writes that line.
    if not found.calls or being_written(path):
        return log
    try:
        # Without a redactor: all of this stands in the log already.
        with LogWriter(path) as writer:
            for key, calls in found.calls.items():
                if key in log and (line := log.read_trial(key)).transcript is not None:
                    writer.append(build_partial_line(line.run, line.transcript, calls.values()))
    # Another reader may be adding the line just now, or the folder may be read-only.
    except HarnessError as error:
        words = f"its calls are not shown: {error}"
        lost = DamagedLine(line=None, why=words, kind="call")
        return replace(log, damaged=(*log.damaged, lost))
    return _take_new_lines(StoredContent(path=path), read_to).build_log()


def _take_new_lines(
    found: StoredContent, read_to: Callable[[int], None] = lambda _: None
) -> StoredContent:
    """Take in the lines of the log that ``found`` does not have yet."""
    for number, offset, end, line in _iterate_lines(found.path, found.size, found.lines):
        if number == 1:
            found.header = require_header(found.path, line)
        else:
            found.take_line(number, offset, line)
        found.size, found.lines = end, number
        read_to(end)
    return found


@dataclass(slots=True)
class StoredContent(LogContent):
    """A log with its results in memory or, if they are many, on disk."""

    path: Path = field(kw_only=True)
    runs: dict[str, TrialResult] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    sharing: ResultInterner = field(default_factory=ResultInterner)
    held: HeldTranscripts | None = None
    """As in `RunLog`."""
    moved: LatestResults | None = None
    """What takes the place of ``runs`` and ``offsets`` once they are many."""

    def keep_result(self, line: TrialLine, offset: int) -> None:
        """Keep the result, in the place of an earlier one of its trial."""
        if self.held is not None and line.transcript is not None:
            self.held.keep(offset, line.transcript)
        if self.moved is not None:
            self.moved.put(line.run, offset)
            return
        self.runs[line.run.key] = self.sharing.intern_result(line.run)
        self.offsets[line.run.key] = offset
        if len(self.runs) > MOST_IN_MEMORY:
            self._move_to_disk()

    def get_result(self, key: str) -> tuple[TrialLine, int] | None:
        """Return the result without its conversation."""
        if self.moved is not None:
            found = self.moved.results_by_key.get(key)
            return None if found is None else (TrialLine(run=found), self.moved.offsets[key])
        run = self.runs.get(key)
        return None if run is None else (TrialLine(run=run), self.offsets[key])

    def _move_to_disk(self) -> None:
        self.moved = LatestResults(self.path.parent)
        for key, result in self.runs.items():
            self.moved.put(result, self.offsets[key])
        self.runs, self.offsets, self.sharing = {}, {}, ResultInterner()

    def forget_result(self, key: str) -> None:
        """Forget the result: it is unknown."""
        if self.moved is not None:
            self.moved.drop(key)
        self.runs.pop(key, None)
        self.offsets.pop(key, None)

    def build_log(self) -> RunLog:
        """Return it as a log."""
        if self.header is None:
            raise _build_invalid(self.path, "this is not a run log: it is empty")
        offsets = self.offsets if self.moved is None else self.moved.offsets
        return RunLog(
            self.path,
            self.header,
            tuple(self.runs.values()) if self.moved is None else self.moved,
            self.tools,
            self.footer,
            offsets,
            tuple(self.bad.values()),
            self.shown,
            # A trial whose result is damaged has no verdict that a review could be of.
            {key: review for key, review in self.reviews.items() if key in offsets},
            size=self.size,
            lines=self.lines,
            held=self.held,
        )


def read_header(path: Path) -> Header:
    """Return the first line of the log at ``path`` alone.

    Raises:
        InvalidInput: the file is no run log, or its header is damaged.
    """
    for _, _, _, line in _iterate_lines(path):
        return require_header(path, line)
    raise _build_invalid(path, "this is not a run log: it is empty")


def require_header(path: Path, line: Line | DamagedLine) -> Header:
    """Return ``line``, the first one of the log at ``path``, if it is a header.

    Raises:
        InvalidInput: it is none, or it is damaged.
    """
    if isinstance(line, Header):
        return line
    if isinstance(line, DamagedLine) and line.kind == "header":
        raise _build_invalid(
            path,
            "the header of this run log is damaged, and without it nothing in it can be judged: "
            f"{line.why}",
        )
    raise _build_invalid(path, "this is not a run log: its first line is no header")


def read_lines(path: Path, offset: int = 0) -> Iterator[tuple[int, int, Line | DamagedLine]]:
    """Yield ``(offset, next offset, line)`` for each complete line from ``offset`` on.

    To follow a log that is being written, call again with the last next offset.
    """
    for _, start, end, line in _iterate_lines(path, offset, None):
        yield start, end, line


def being_written(path: Path) -> bool:
    """Return whether a `LogWriter` has the log open: then the run is in progress, not cut off."""
    with path.open("rb") as file:
        try:
            # A shared lock, so that two who look at the same time do not see each other.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _iterate_lines(
    path: Path, offset: int = 0, before: int | None = 0
) -> Iterator[tuple[int, int, int, Line | DamagedLine]]:
    """Yield ``(line number, offset, next offset, line)`` of each complete line.

    It begins at ``offset``, where ``before`` lines have gone before; ``None`` is not known.
    """
    with path.open("rb") as file:
        file.seek(offset)
        for number, raw in enumerate(file, start=(before or 0) + 1):
            # Still being written, or torn: it is read from here when it is whole.
            if not raw.endswith(b"\n"):
                return
            end = offset + len(raw)
            yield number, offset, end, _parse_or_damaged(raw, None if before is None else number)
            offset = end


def _parse_or_damaged(raw: bytes, number: int | None) -> Line | DamagedLine:
    try:
        return parse_line(raw)
    except ValueError as error:
        return build_damaged_line(raw, number, str(error))


def _build_invalid(path: Path, message: str) -> InvalidInput:
    return InvalidInput([Problem(at=Location(file=str(path), line=1), message=message)])


def amend_log(log: RunLog, **changes: Any) -> RunLog:
    """Return ``log`` with a footer of these ``changes`` (fields of `Footer`), appended to its file.

    Nothing is written if the footer says so already, or if there is none: a run without an end is
    no better for having a fault.

    Raises:
        HarnessError: the log cannot be written.
    """
    if log.footer is None:
        return log
    footer = replace(log.footer, **changes)
    if footer == log.footer:
        return log
    with LogWriter(log.path) as writer:
        writer.append(footer)
    return log.read_further()
