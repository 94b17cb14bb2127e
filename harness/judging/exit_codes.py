"""The exit codes of the process, and the one that a report leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from harness.types import Report, Status

EXIT_PASSED = 0
"""Every case passed."""
EXIT_FAILED = 1
"""At least one case failed."""
EXIT_NOTHING = 2
"""There was nothing to run."""
EXIT_INVALID = 3
"""A suite, the configuration or the command is invalid."""
EXIT_UNJUDGED = 4
"""No case failed, but some have no verdict."""
# 128 + 2, as a shell reports a program that SIGINT ended.
EXIT_INTERRUPTED = 130
"""The run was interrupted."""


def exit_code(report: Report) -> int:
    """Return the exit code of the process, by the verdicts on the report's cases alone."""
    verdicts = {case.status for case in report.cases}
    return choose_exit_code(verdicts, report.reason, report.counts.planned, len(report.results))


def choose_exit_code(
    verdicts: AbstractSet[Status], reason: str, planned: int, recorded: int
) -> int:
    """Return the exit code of a run that ended for ``reason``, by the verdicts on its cases.

    ``recorded`` are its results, those included that `harness.judging.cases` adds.
    """
    if reason == "interrupted":
        return EXIT_INTERRUPTED
    if planned == 0:
        return EXIT_NOTHING
    # A failure stands, however many results are missing.
    if "failed" in verdicts:
        return EXIT_FAILED
    complete = planned == recorded
    return EXIT_PASSED if complete and verdicts == {"passed"} else EXIT_UNJUDGED
