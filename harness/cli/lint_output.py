"""What `harness lint` prints: text, or one JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from rich.text import Text

from harness.base import make_printable
from harness.descriptions import BaselineChange, LintFinding, Severity
from harness.reports import print_text, stdout_console
from harness.types import JsonObject

_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "dim"}
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class LintResult:
    """The result of one `harness lint`."""

    server: str
    """Name of the server."""
    tools: int
    """How many tools it lists."""
    tokens: int
    """About how many tokens its list takes."""
    findings: tuple[LintFinding, ...]
    """The findings that are not ignored."""
    ignored: int
    """How many are."""
    change: BaselineChange | None = None
    """The difference from the baseline, if there is one."""
    failures: tuple[str, ...] = ()
    """Why the command fails, apart from the findings, each in a sentence."""

    @property
    def document(self) -> JsonObject:
        """The JSON document, which also serves as a baseline."""
        counts = Counter(finding.severity for finding in self.findings)
        document: JsonObject = {
            "status": "ok",
            "server": self.server,
            "tools": self.tools,
            "tokens": self.tokens,
            "counts": {severity: counts[severity] for severity in _SEVERITIES},
            "ignored": self.ignored,
            "failures": list(self.failures),
            "findings": [_finding_json(finding) for finding in self.findings],
        }
        if self.change is None:
            return document
        return {
            **document,
            "baseline": {
                "file": self.change.baseline.file,
                "tokens": self.change.baseline.tokens,
                "new": [str(key) for key, _ in self.change.new],
                "gone": [str(key) for key in self.change.gone],
            },
        }

    def print_report(self) -> None:
        """Print it for people."""
        console = stdout_console()
        _print_findings(self)
        for line in () if self.change is None else self.change.format_lines():
            print_text(console, Text(make_printable(line)))
        for failure in self.failures:
            print_text(console, Text(make_printable(failure), style="bold red"))
        print_text(console, Text(make_printable(_format_summary(self))))


def _finding_json(finding: LintFinding) -> JsonObject:
    return {
        "tool": finding.tool,
        "tools": list(finding.tools),
        "parameters": list(finding.parameters),
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "why": finding.rationale,
        "instead": finding.instead,
        "evidence": asdict(finding.evidence),
    }


def _print_findings(linted: LintResult) -> None:
    console = stdout_console()
    told: set[str] = set()
    for tool, about in groupby(linted.findings, key=lambda finding: finding.tool):
        print_text(
            console, Text(make_printable(tool or f"{linted.server} as a whole"), style="bold")
        )
        for finding in about:
            head = Text(f"{finding.severity} ", style=_STYLES[finding.severity])
            head.append(make_printable(f"{finding.rule}: {finding.message}"), style="default")
            print_text(console, head, 2)
            # A rule often finds the same in many tools.
            advice = [line for line in _format_advice(finding) if line not in told]
            told.update(advice)  # the explanation is printed only once
            if advice:
                print_text(console, Text(make_printable("\n".join(advice)), style="dim"), 6)


def _format_advice(finding: LintFinding) -> Sequence[str]:
    return (
        f"Why: {finding.rationale}",
        f"Evidence: {finding.evidence.summary}.",
        f"Instead: {finding.instead}",
    )


def _format_summary(linted: LintResult) -> str:
    counts = Counter(finding.severity for finding in linted.findings)
    told = [
        f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}"
        for severity in _SEVERITIES
    ]
    told += [f"{linted.ignored} ignored"] if linted.ignored else []
    tools = f"{linted.tools} tool{'' if linted.tools == 1 else 's'}"
    return f"{linted.server}: {tools}: {', '.join(told)}"
