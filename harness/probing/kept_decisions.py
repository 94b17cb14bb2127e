"""A kept table of decisions, to notice any change of them: ``harness probe --expect FILE``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TextIO

from harness.errors import InvalidInput, Problem, UsageError
from harness.probing.report import Decided, ProbeReport
from harness.reports.atomic_files import write_atomically
from harness.safe_text import one_line
from harness.types import Location

VERSION = 1


def freeze(report: ProbeReport) -> str:
    """Return the decisions of ``report`` as the text of a file that people can read and diff."""
    table = {
        call: {caller: words_of(decided) for caller, decided in sorted(callers.items())}
        for call, callers in sorted(report.decisions.items())
    }
    return json.dumps({"version": VERSION, "decisions": table}, indent=2, ensure_ascii=False) + "\n"


def write_frozen(path: Path, report: ProbeReport) -> None:
    """Write the decisions of ``report`` to ``path``.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        write_atomically(path, partial(_write, freeze(report)))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _write(text: str, stream: TextIO) -> None:
    stream.write(text)


def read_frozen(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the decisions that are kept in ``path``.

    Raises:
        InvalidInput: it is not there, or no such table.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        table = content["decisions"]
        whole = content["version"] == VERSION and all(
            isinstance(decision, str) for callers in table.values() for decision in callers.values()
        )
    except FileNotFoundError as error:
        raise _invalid(
            path, "there is no such file.", f"Write it with: harness probe --update {path}"
        ) from error
    except OSError as error:
        raise _invalid(path, f"it cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _invalid(path, "this is no table of decisions.") from error
    if not whole:
        raise _invalid(path, f"this is no table of decisions of version {VERSION}.")
    found: Mapping[str, Mapping[str, str]] = table
    return found


def _invalid(path: Path, message: str, meant: str | None = None) -> InvalidInput:
    return InvalidInput([Problem(at=Location(file=str(path)), message=message, meant=meant)])


def changes(kept: Mapping[str, Mapping[str, str]], report: ProbeReport) -> Iterator[str]:
    """Yield in words everything in which ``report`` differs from what was kept."""
    for call in dict.fromkeys((*kept, *report.decisions)):
        before, now = kept.get(call, {}), report.decisions.get(call, {})
        for caller in dict.fromkeys((*before, *now)):
            old, new = before.get(caller), words_of(now[caller]) if caller in now else None
            if old != new:
                yield one_line(
                    f"{call} as {caller}: {old or 'not asked'} before, {new or 'not asked'} now"
                )


def words_of(decided: Decided) -> str:
    """Return a decision on a line: ``denied (tool_error)``, ``filtered without email, phone``."""
    if decided.access == "filtered":
        return f"filtered without {', '.join(decided.fields)}"
    return (
        f"denied ({decided.shape})"
        if decided.access == "denied" and decided.shape
        else decided.access
    )
