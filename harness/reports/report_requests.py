"""``--report FORMAT[:PATH]``: which format is written, and where."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.base import UsageError, did_you_mean, guard_stream
from harness.reports.atomic_files import write_atomically
from harness.reports.writers import WRITERS, infer_format, map_suffixes
from harness.runlog import RunLog
from harness.types import Report


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
