"""What an auditor asks of a probe: when, by what, of what inputs, what was tried and found."""

from __future__ import annotations

from collections.abc import Iterator

from harness.reports.case_names import case_name
from harness.reports.sections.sentences import format_problem, get_repeat_command, sort_by_urgency
from harness.runlog import RunLog
from harness.types import JsonObject, Report

_PARTS = {
    "digest": "all inputs",
    "suites": "tests and expectations",
    "identities": "identities",
    "server": "server",
    "tools": "tool lists",
    "expected": "kept decisions (--expect)",
    "altered": "altered values",
    "options": "options",
}
"""Key of the header's ``inputs`` → what it is the SHA-256 of."""


def get_inputs(report: Report) -> JsonObject | None:
    """Return the digests of a probe's inputs; ``None`` for other runs."""
    found: JsonObject | None = report.settings.get("inputs")
    return found


def build_audit(report: Report, log: RunLog) -> JsonObject | None:
    """Return ``{"facts", "findings", "told"}``, texts as they are; ``None`` if it is no probe.

    ``facts`` are pairs of name and value, ``findings`` have ``words`` and, where one call shows
    them, the ``command`` that makes it again.
    """
    inputs = get_inputs(report)
    if inputs is None:
        return None
    footer = log.footer
    return {
        "facts": [
            ["run", report.run_id],
            ["started", report.started_at],
            ["finished", report.finished_at or "not at all"],
            ["harness", str(inputs.get("harness", ""))],
            *(
                [f"SHA-256 of {words}", str(inputs[part])]
                for part, words in _PARTS.items()
                if part in inputs
            ),
        ],
        "findings": [*_iterate_findings(report)],
        "told": [] if footer is None else list(footer.told),
    }


def _iterate_findings(report: Report) -> Iterator[JsonObject]:
    for case in sort_by_urgency(report):
        if case.status != "passed":
            shown = case.deciding_trial
            words = f"{case_name(case, report)}: {format_problem(shown)}"
            yield {"words": words, "command": get_repeat_command(shown) or ""}
