"""The formats in which results can be written, and how a package adds one.

A format is a file ``NAME_report.py`` in `harness.reports.formats` with a `Writer` ``WRITER``; a
package adds one by an entry point in the group ``harness.reports`` that names a `Writer`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TextIO

from harness.base import Registry, UsageError, did_you_mean, find_members, guard_stream
from harness.runlog import RunLog
from harness.types import Report, dataclass


@dataclass(frozen=True, slots=True)
class Writer:
    """A format in which results can be written."""

    write: Callable[[Report, RunLog, TextIO], None]
    """Writes the report; its log has the conversations. Equal logs give equal text."""
    file_name: str
    """The file, below the run's folder, where nobody says otherwise."""
    media_type: str
    """Its media type for web servers."""
    suffix: str | None = None
    """A path that ends so, and names no format, means this one."""
    place_variable: str | None = None
    """An environment variable that names a file to append to, in place of `file_name`."""
    lines: Callable[[Report], Iterable[str]] | None = None
    """Lines to print besides, for a CI system that reads them in its job log."""


WRITERS = Registry[Writer](
    "harness.reports",
    "report",
    find_members(
        Path(__file__).with_name("formats"), "harness.reports.formats", "WRITER", ending="_report"
    ),
)
"""The formats of ``--report``."""


def infer_format(path: Path) -> str | None:
    """Return the format that the suffix of ``path`` means, if it means one."""
    return map_suffixes().get(path.suffix.lower())


def map_suffixes() -> dict[str, str]:
    """Return the format that each suffix means."""
    written = [(name, WRITERS.get(name).suffix) for name in WRITERS.list_names()]
    return {suffix: name for name, suffix in written if suffix}


def write_atomically(path: Path, write: Callable[[TextIO], None]) -> None:
    """Have ``write`` fill a file beside ``path``, sync it, and put it in the place of ``path``.

    No secret that this process knows gets into it.

    A reader sees the old file or the new one, never a part; after a crash, too. A symbolic link
    keeps pointing where it points, and what is no regular file (``/dev/stdout``, a pipe) is written
    to directly.

    Raises:
        OSError: the folder cannot be written to, or the disk is full; ``path`` is as it was.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
            write(guard_stream(stream))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Cut, since a file system takes 255 bytes, and this name is longer than the one that was given.
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("x", encoding="utf-8", errors="replace", newline="") as stream:
            write(guard_stream(stream))
            stream.flush()
            os.fsync(stream.fileno())
        # After the sync: otherwise a crash could leave the new name with half of the content.
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    # Makes the new name outlive a power cut.
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """A report that was asked for."""

    format: str
    """A name of `WRITERS`."""
    path: Path | None = None
    """Where it goes; ``None`` is the format's own place."""

    @classmethod
    def parse(cls, text: str) -> ReportRequest:
        """Read ``html``, ``html:out/page.html`` or ``page.html``.

        Raises:
            UsageError: it names no format, and its suffix none either.
        """
        name, colon, path = text.partition(":")
        place = path if name in WRITERS else text
        # Now, and not when the run has ended and its report has nowhere to go.
        if place and Path(place).is_dir():
            raise UsageError(
                f"--report {text!r} names a folder",
                meant="Name the file in it that is to be written.",
            )
        if name in WRITERS:
            if colon and not path:
                raise UsageError(
                    f"--report {text!r} names no file", meant=f"Write {name}:PATH, or {name} alone."
                )
            return cls(format=name, path=Path(path) if path else None)
        if meant := infer_format(Path(text)):
            return cls(format=meant, path=Path(text))
        names = WRITERS.list_names()
        near = did_you_mean(name, names)
        known = f"Formats: {', '.join(names)}; suffixes: {', '.join(map_suffixes())}."
        raise UsageError(
            f"--report {text!r} is neither a format nor a file whose suffix says one",
            meant=known if near is None else f"{near} {known}",
        )


def write_report(
    request: ReportRequest, report: Report, log: RunLog, environ: Mapping[str, str] = os.environ
) -> tuple[Path, list[str]]:
    """Write the report and return where it is, and the lines that a CI system wants to read.

    Raises:
        UsageError: it cannot be written.
    """
    writer = WRITERS.get(request.format)
    appended = None if request.path else environ.get(writer.place_variable or "")
    path = request.path or Path(appended or log.path.parent / writer.file_name)
    try:
        if appended:
            # Others write to it as well: it is not ours to replace.
            with path.open("a", encoding="utf-8", errors="replace", newline="") as stream:
                writer.write(report, log, guard_stream(stream))
        else:
            write_atomically(path, partial(writer.write, report, log))
    except OSError as error:
        raise UsageError(f"the report {path} cannot be written: {error.strerror}") from error
    return path, list(writer.lines(report)) if writer.lines else []
