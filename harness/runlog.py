"""The append-only log of a run: the product, of which every report is a view.

A log is a file of JSON lines. The first is a header; then come, in the order in which things
happened, the tool lists that users were shown and one self-contained line for each trial that
ended; a footer closes it. A log without a footer is an interrupted run and is readable; a torn last
line (the process was killed while it wrote) is passed over, and cut off when the log is appended to.

`LogWriter` appends, `read_log` reads. Lines are of `Line`; their ``schema`` is `SCHEMA_VERSION`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from harness.errors import HarnessError, InvalidInput, Problem
from harness.types import JsonObject, Location, Run, ToolList, Transcript

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA_VERSION = 1
"""Raised when a reader of an older version could misread a line; old versions stay readable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was planned, and with which settings: enough to tell whether two runs asked the same."""

    run_id: str
    """Name of the run's folder."""
    started_at: str
    """UTC, ISO 8601."""
    harness_version: str
    """The version that wrote the log."""
    planned: int
    """Trials in the plan."""
    suites: JsonObject = field(default_factory=dict)
    """Suite name → ``{file, digest, description, cases: {name: digest}}``."""
    models: JsonObject = field(default_factory=dict)
    """Model name → its settings, without secrets."""
    servers: JsonObject = field(default_factory=dict)
    """Server name → how it is started, without secrets."""
    settings: JsonObject = field(default_factory=dict)
    """Trials, concurrency, budgets, shard, selection."""
    schema: int = SCHEMA_VERSION
    """Version of the log's format."""
    kind: Literal["header"] = "header"
    """Tells the lines of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsLine:
    """A tool list as one user saw it, written before the first trial that saw it."""

    server: str
    """Name of the server."""
    tools: ToolList
    """The list; its digest is what a transcript refers to."""
    user_context: JsonObject | None = None
    """The first user who saw it."""
    kind: Literal["tools"] = "tools"
    """Tells the lines of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLine:
    """A trial that ended."""

    run: Run
    """Its result."""
    transcript: Transcript | None = None
    """What happened; ``None`` when nothing was started."""
    kind: Literal["trial"] = "trial"
    """Tells the lines of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """How the run ended."""

    finished_at: str
    """UTC, ISO 8601."""
    elapsed_s: float
    """Wall time of the whole run."""
    reason: Literal["complete", "interrupted", "budget", "max-errors", "fail-fast"] = "complete"
    """Why it ended."""
    kind: Literal["footer"] = "footer"
    """Tells the lines of a log apart."""


Line: TypeAlias = Header | ToolsLine | TrialLine | Footer
"""Any line of a log."""


class LogWriter:
    """Appends lines; each is in the hands of the operating system before `append` returns.

    That makes it survive ``kill -9`` of this process. `close` also syncs the file to the disk.
    """

    def __init__(
        self, path: Path, scrub: Callable[[str], str] = str, learn: Callable[[str], None] = lambda _: None
    ) -> None:
        """Open ``path`` for appending, cutting off a torn last line; ``scrub`` removes secrets.

        ``learn`` is told of secrets that come up later, so that ``scrub`` removes them, too.
        """
        self.path = path
        self.learn = learn
        self._scrub = scrub
        self._fd = -1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._cut_torn_line()
        except OSError as error:
            if self._fd >= 0:
                os.close(self._fd)
            held = isinstance(error, BlockingIOError)
            why = "is being written by another process" if held else f"cannot be opened: {error.strerror}"
            raise HarnessError(f"the run log {path} {why}") from error

    def append(self, line: Line) -> None:
        """Write one line, whole.

        Raises:
            HarnessError: the disk is full or the file has become unwritable.
        """
        data = (self._scrub(_dump(line)) + "\n").encode()
        try:
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            raise HarnessError(f"the run log {self.path} cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Sync to the disk and close; harmless when closed already."""
        if self._fd >= 0:
            try:
                os.fsync(self._fd)
            finally:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _cut_torn_line(self) -> None:
        size = os.fstat(self._fd).st_size
        with self.path.open("rb") as file:
            keep = _end_of_last_line(file.fileno(), size)
        if keep < size:
            os.ftruncate(self._fd, keep)


@dataclass(frozen=True, slots=True)
class RunLog:
    """A log as read: results in memory, conversations left in the file until they are asked for."""

    path: Path
    """The file."""
    header: Header
    """Its first line."""
    runs: tuple[Run, ...]
    """The last result of each trial, in the order in which they were first written."""
    tools: Mapping[str, ToolList]
    """Digest → tool list."""
    footer: Footer | None
    """``None`` when the run was interrupted, or is under way."""
    _offsets: Mapping[str, int]

    def transcript(self, key: str) -> Transcript | None:
        """Return the conversation of the trial with that key."""
        with self.path.open("rb") as file:
            file.seek(self._offsets[key])
            line = _parse(file.readline(), self.path, None)
        assert isinstance(line, TrialLine)
        return line.transcript

    def __iter__(self) -> Iterator[tuple[Run, Transcript | None]]:
        """Yield every result with its conversation, one at a time."""
        for run in self.runs:
            yield run, self.transcript(run.key)


def read_log(path: Path) -> RunLog:
    """Read the log at ``path``, whole or interrupted.

    Raises:
        InvalidInput: the file is no run log, or a line in its middle is damaged.
    """
    header: Header | None = None
    footer: Footer | None = None
    runs: dict[str, Run] = {}
    tools: dict[str, ToolList] = {}
    offsets: dict[str, int] = {}
    for number, offset, line in _lines(path):
        if number == 1:
            if not isinstance(line, Header):
                raise _invalid(path, 1, "this is not a run log: its first line is no header")
            header = line
        elif isinstance(line, TrialLine):
            runs[line.run.key] = line.run
            offsets[line.run.key] = offset
            footer = None
        elif isinstance(line, ToolsLine):
            tools[line.tools.digest] = line.tools
        elif isinstance(line, Footer):
            footer = line
    if header is None:
        raise _invalid(path, 1, "this is not a run log: it is empty")
    return RunLog(path, header, tuple(runs.values()), tools, footer, offsets)


def read_lines(path: Path, offset: int = 0) -> Iterator[tuple[int, int, Line]]:
    """Yield ``(offset, offset behind it, line)`` for each whole line from ``offset`` on; a torn last one is left.

    Who follows a log that is being written goes on later from the offset behind the last line.

    Raises:
        InvalidInput: a line is damaged.
    """
    with path.open("rb") as file:
        file.seek(offset)
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            yield offset, offset + len(raw), _parse(raw, path, None)
            offset += len(raw)


def being_written(path: Path) -> bool:
    """Return whether a `LogWriter` has the log open: what tells a run under way from one that was cut off."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _lines(path: Path) -> Iterator[tuple[int, int, Line]]:
    """Yield ``(line number, byte offset, line)``, passing over a torn last line."""
    offset = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.endswith(b"\n"):
                return
            yield number, offset, _parse(raw, path, number)
            offset += len(raw)


def _parse(raw: bytes, path: Path, number: int | None) -> Line:
    from pydantic import ValidationError

    try:
        return _adapter().validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _invalid(path, number, f"this line of the run log is damaged: {first['msg']}") from error


def _invalid(path: Path, line: int | None, message: str) -> InvalidInput:
    return InvalidInput([Problem(at=Location(file=str(path), line=line), message=message)])


def _end_of_last_line(fd: int, size: int) -> int:
    """Return the offset just behind the last newline, reading backwards in blocks."""
    end = size
    while end > 0:
        start = max(0, end - 65536)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


@cache
def _adapter() -> TypeAdapter[Line]:
    from pydantic import Discriminator, TypeAdapter  # slow to load, and many commands touch no log

    # Told apart by their kind: trying each sort of line in turn takes three times as long.
    return TypeAdapter(Annotated[Line, Discriminator("kind")])


def _dump(line: Line) -> str:
    try:
        return _adapter().dump_json(line).decode()
    except ValueError:
        # Half of a surrogate pair, from a server or a model: no UTF-8 file can hold it.
        return json.dumps(_without_surrogates(_adapter().dump_python(line)), ensure_ascii=False)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
