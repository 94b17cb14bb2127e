"""What is learnt of a run only after its log was closed: a new last line says it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.runlog.reader import RunLog, read_log
from harness.runlog.writer import LogWriter


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
    return read_log(log.path)
