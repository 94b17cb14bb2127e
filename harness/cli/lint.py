"""``harness lint``: what in a server's tool list makes LLMs fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from harness.cli.listing import LISTED, Listed
from harness.linting.findings import Finding, Severity
from harness.linting.lint import is_clean, lint
from harness.reports.terminal import print_text, stdout_console
from harness.reports.text import printable
from harness.types import ServerSpec, ToolList

_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "dim"}
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@click.command("lint")
@LISTED
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(listed: Listed, *, json_output: bool) -> None:
    """Find what in a server's tool list makes LLMs fail, and what to write instead.

    SERVER is the name of a configured or built-in server, or the URL of one that runs. No tool is called
    and no model is asked. The exit code is 0 if there are no errors or warnings (notes do not count), and 1
    if there are.
    """
    findings = lint(listed.tools)
    if json_output:
        click.echo(json.dumps(_document(listed.server, listed.tools, findings)))
    else:
        _print(listed.server, listed.tools, findings, stdout_console())
    raise click.exceptions.Exit(0 if is_clean(findings) else 1)


def _document(spec: ServerSpec, tools: ToolList, findings: Sequence[Finding]) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "status": "ok",
        "server": spec.name,
        "tools": len(tools.tools),
        "counts": {severity: counts[severity] for severity in _SEVERITIES},
        "findings": [
            {
                "tool": finding.tool,
                "parameters": list(finding.parameters),
                "rule": finding.rule,
                "severity": finding.severity,
                "message": finding.message,
                "why": finding.why,
                "instead": finding.instead,
            }
            for finding in findings
        ],
    }


def _print(spec: ServerSpec, tools: ToolList, findings: Sequence[Finding], console: Console) -> None:
    told: set[str] = set()
    for tool, about in groupby(findings, key=lambda finding: finding.tool):
        print_text(console, Text(printable(tool or f"{spec.name} as a whole"), style="bold"))
        for finding in about:
            head = Text(f"{finding.severity} ", style=_STYLES[finding.severity])
            head.append(printable(f"{finding.rule}: {finding.message}"), style="default")
            print_text(console, head, 2)
            advice = [line for line in (f"Why: {finding.why}", f"Instead: {finding.instead}") if line not in told]
            told.update(advice)  # what was said once is not said again
            if advice:
                print_text(console, Text(printable("\n".join(advice)), style="dim"), 6)
    print_text(console, Text(printable(_summary(spec, tools, findings))))


def _summary(spec: ServerSpec, tools: ToolList, findings: Sequence[Finding]) -> str:
    counts = Counter(finding.severity for finding in findings)
    told = [f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}" for severity in _SEVERITIES]
    return f"{spec.name}: {len(tools.tools)} tool{'' if len(tools.tools) == 1 else 's'}: {', '.join(told)}"
