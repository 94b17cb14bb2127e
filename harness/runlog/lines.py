"""The lines of a run log: how each is written as JSON, read again, and found in a large log."""

from __future__ import annotations

import json
import os
import re
from dataclasses import field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

from harness.base import MAX_DIGITS, measure_depth, trim_depth
from harness.types import (
    JsonObject,
    Review,
    ToolCall,
    ToolList,
    Transcript,
    TrialResult,
    dataclass,
    name_entrant,
    written_fields,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter


SCHEMA_VERSION = 1
"""The form of the lines. The first release begins with 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The plan and its settings: enough to tell whether two runs asked the same."""

    run_id: str
    """Name of the run's folder."""
    started_at: str
    """UTC, ISO 8601."""
    harness_version: str
    """The version that wrote the log."""
    planned: int
    """Trials in the plan."""
    suites: JsonObject = field(default_factory=dict)
    """Suite name → ``{file, digest, description, servers: [name], cases: {name: digest}}``."""
    models: JsonObject = field(default_factory=dict)
    """Model name → its settings, without secrets."""
    axes: JsonObject = field(default_factory=dict)
    """Axis → name of a value → what it is: its ``digest``, its ``words``, and more."""
    entrants: JsonObject = field(default_factory=dict)
    """Name of an entrant → ``{"model": …}`` and its value on each axis, unless it is the default;
    in the order of reports."""
    servers: JsonObject = field(default_factory=dict)
    """Server name → how it is started, without secrets, and ``built_in`` if it is harness's own."""
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
    variant: str | None = None
    """The variant under which a model was told of it; ``None`` is the server's own list."""
    kind: Literal["tools"] = "tools"
    """Tells the lines of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLine:
    """A trial that ended."""

    run: TrialResult
    """Its result."""
    transcript: Transcript | None = None
    """The conversation; ``None`` when nothing was started."""
    kind: Literal["trial"] = "trial"
    """Tells the lines of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLine:
    """A call of a trial that is under way: written when it is sent, and again when it is answered.

    Only sessions of somebody else's program have such lines: what was called must be known even if
    harness is killed. The line of the trial, at its end, takes their place.
    """

    call_of: str
    """Key of the trial, whose line so far stands before."""
    call: ToolCall
    """The last line with the same `ToolCall.request_id` counts."""
    kind: Literal["call"] = "call"
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
    signal: str | None = None
    """The signal that interrupted it: ``SIGINT`` if a person did, by Ctrl-C or *Cancel*."""
    fault: str | None = None
    """Why its command failed where no trial of it did, such as a gate; in words."""
    told: tuple[str, ...] = ()
    """What it says of itself as a whole, a sentence each: how much a probe asked and tried."""
    kind: Literal["footer"] = "footer"
    """Tells the lines of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """What a person said of the verdict on a trial, long after it ended.

    The footer is written again behind it, so that it stays the last line.
    """

    review: Review
    """The last one on a trial counts, until the trial is run again."""
    kind: Literal["review"] = "review"
    """Tells the lines of a log apart."""


DamagedKind: TypeAlias = Literal["header", "tools", "trial", "call", "footer", "review", "unknown"]
"""The kind of a damaged line, as far as it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedLine:
    """A line that cannot be read, with the known facts about it; never written, so no `Line`."""

    line: int | None
    """1-based number in the file; ``None`` where the file was not read from its beginning."""
    why: str
    """The reader's error."""
    kind: DamagedKind = "unknown"
    """Its kind, by its first bytes."""
    key: str | None = None
    """`TrialResult.key` of the trial, where that part is whole."""
    trial: str | None = None
    """The trial in words, where that part is whole: ``shop/refund, trial 2 with gpt-4o``."""

    def describe(self, path: str) -> str:
        """Return a sentence on the line, of the log at ``path``, and what it costs."""
        place = path if self.line is None else f"{path}:{self.line}"
        lost = {
            "tools": "a tool list is lost",
            "footer": "it is not known how the run ended",
            "review": "a person's review is lost",
            "call": "a call of a session that was cut off is lost",
            "trial": f"{self.trial or 'a trial'} has no result",
        }.get(self.kind, "a trial may have no result")
        return f"{place}: this line of the run log is damaged, and {lost} ({self.why})"


Line: TypeAlias = Header | ToolsLine | TrialLine | CallLine | Footer | ReviewLine
"""Any line of a log."""


_DEEPEST = 180
"""Levels of one line: its reader gives up at 200. What models, servers and users bring has far
fewer; a plugin may bring more."""

# Every digit becomes 0, so that one search finds a number that no reader takes.
_DIGITS = bytes(ord("0") if chr(byte).isdigit() else ord(" ") for byte in range(128)) + b" " * 128
_TOO_MANY = b"0" * (MAX_DIGITS + 1)


def dump_line(line: Line) -> str:
    """Return ``line`` as JSON that `parse_line` can read, whatever it holds."""
    try:
        data = _get_adapter().dump_json(line)
    except (
        ValueError
    ):  # nested too deeply, or half of a surrogate pair, which no UTF-8 file can hold
        data = b""
    if not data or measure_depth(data) > _DEEPEST or _TOO_MANY in data.translate(_DIGITS):
        # Slower, and a note in place of what is cut; but no value keeps a trial out of its log.
        value = trim_depth(line, _DEEPEST, written_fields)
        return json.dumps(value, ensure_ascii=False, default=str)
    return data.decode()


def parse_line(raw: bytes) -> Line:
    """Return the line in ``raw``.

    Raises:
        ValueError: it is not a line; the text says why.
    """
    from pydantic import ValidationError

    try:
        return _get_adapter().validate_json(raw)
    except ValidationError as error:
        # Without the input, which may be megabytes of what a model said.
        raise ValueError(error.errors(include_url=False, include_input=False)[0]["msg"]) from error


def build_damaged_line(raw: bytes, number: int | None, why: str) -> DamagedLine:
    """Return what can be said of the line ``raw``, which `parse_line` does not read."""
    whole = _read_whole_part(raw.decode(errors="replace"), "run", "case")
    kind: DamagedKind = next((_KINDS[name] for name in whole if name in _KINDS), "unknown")
    damaged = DamagedLine(line=number, why=why, kind=kind)
    match whole.get("run"):
        case {
            "key": str(key),
            "suite": str(suite),
            "case": {"name": str(case)},
            "model": str(model),
            "axes": dict(axes),
            "trial": int(trial),
        }:
            entrant = name_entrant(model, {axis: str(value) for axis, value in axes.items()})
            words = f"{suite}/{case}, trial {trial} with {entrant}"
            return replace(damaged, key=key, trial=words)
    return damaged


def _read_whole_part(text: str, *inner: str, place: int = 0) -> dict[str, Any]:
    """Return the members of the object at ``place``, up to where its JSON is damaged.

    The last of them, if it is damaged and named ``inner``, is returned likewise.
    """
    whole: dict[str, Any] = {}
    while (found := _MEMBER.match(text, place)) is not None:
        name, place = found["name"], found.end()
        try:
            whole[name], place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            # Members beyond the damage are not known, but those before it are.
            whole[name] = _read_whole_part(text, *inner[1:], place=place) if name in inner else None
            break
    return whole


_DECODER = json.JSONDecoder()
_MEMBER = re.compile(r'\s*[{,]\s*"(?P<name>\w+)"\s*:\s*')
# By the first field of each kind of line, which no other kind has.
_KINDS: dict[str, Any] = {fields(line)[0].name: fields(line)[-1].default for line in get_args(Line)}


def begin_pattern(*names: str) -> re.Pattern[bytes]:
    """Return how a line begins whose first member is the first of ``names``, and so on inward.

    Other programs write other spaces between the parts of JSON than we do.
    """
    return re.compile(rb"\s*" + b"".join(rb'\{\s*"%s"\s*:\s*' % name.encode() for name in names))


@cache
def _get_adapter() -> TypeAdapter[Line]:
    from pydantic import Discriminator, TypeAdapter  # slow to load, and many commands touch no log

    # Told apart by their kind: trying each sort of line in turn takes three times as long.
    return TypeAdapter(Annotated[Line, Discriminator("kind")])


_KEY = begin_pattern("run", "key")
_BLOCK = 1 << 16


def find_last_line(log: Path, key: str) -> tuple[int, TrialLine] | None:
    """Return where in ``log`` the last line of the trial with that key begins, and the line.

    ``None``: there is no such line, or it is damaged.
    """
    # Other programs may escape what is not ASCII.
    written = tuple(json.dumps(key, ensure_ascii=one).encode() for one in (False, True))
    # The last one counts, and is parsed only once it is known to be the last.
    found, at = None, 0
    with log.open("rb") as file:
        for raw in file:
            begin = _KEY.match(raw)
            if begin and raw.startswith(written, begin.end()) and raw.endswith(b"\n"):
                found = at, raw
            at += len(raw)
    line = None if found is None else _try_parse(found[1])
    return (found[0], line) if found is not None and isinstance(line, TrialLine) else None


def read_footer(log: Path) -> Footer | None:
    """Return the footer, if it is the last complete line of ``log``."""
    with log.open("rb") as file:
        at = end = file.seek(0, os.SEEK_END)
        tail = b""
        while at > 0 and tail.rstrip(b"\n").count(b"\n") < 2:  # noqa: PLR2004 - one may be torn
            at = max(0, at - _BLOCK)
            file.seek(at)
            tail = file.read(end - at)
    complete = tail[: tail.rfind(b"\n") + 1].splitlines(keepends=True)
    line = _try_parse(complete[-1]) if complete else None
    return line if isinstance(line, Footer) else None


def _try_parse(raw: bytes) -> Line | None:
    try:
        return parse_line(raw)
    except ValueError:
        return None
