"""Find problems in a server's tools that make LLMs fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import click
from rich.text import Text

from harness.cli.server_tools import LISTED, Listed
from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED
from harness.linting.findings import LintFinding, Severity
from harness.linting.ignoring import EVERY_TOOL, Threshold, check_ignored, fails, not_ignored
from harness.linting.lint import lint
from harness.reports.terminal import print_text, stdout_console
from harness.safe_text import printable
from harness.types import ServerSpec, ToolList

_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "dim"}
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@click.command("lint")
@LISTED
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    help="Ignore the findings of a rule; may be repeated.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="warning",
    show_default=True,
    help="Lowest severity with which a finding makes the exit code 1.",
)
def command(
    listed: Listed, *, json_output: bool, ignore: tuple[str, ...], fail_on: Threshold
) -> None:
    """Find problems in a server's tools that make LLMs fail, and say what to write instead.

    SERVER is the name of a configured or built-in server, or the URL of a running one. No tool is
    called and no model is asked. The exit code is 1 if there are errors or warnings, otherwise 0
    (notes do not count); --fail-on changes that. The server's entry in harness.yml may name
    findings to ignore (lint_ignore).
    """
    found = lint(listed.tools)
    configured = listed.server.lint_ignore
    check_ignored({EVERY_TOOL: ignore}, listed.tools, "--ignore")
    check_ignored(configured, listed.tools, f"lint_ignore of the server {listed.server.name!r}")
    findings = not_ignored(not_ignored(found, {EVERY_TOOL: ignore}), configured)
    ignored = len(found) - len(findings)
    if json_output:
        click.echo(json.dumps(_document(listed.server, listed.tools, findings, ignored)))
    else:
        _print(listed.server, listed.tools, findings, ignored)
    raise click.exceptions.Exit(EXIT_FAILED if fails(findings, fail_on) else EXIT_PASSED)


def _document(
    spec: ServerSpec, tools: ToolList, findings: Sequence[LintFinding], ignored: int
) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "status": "ok",
        "server": spec.name,
        "tools": len(tools.tools),
        "counts": {severity: counts[severity] for severity in _SEVERITIES},
        "ignored": ignored,
        "findings": [
            {
                "tool": finding.tool,
                "parameters": list(finding.parameters),
                "rule": finding.rule,
                "severity": finding.severity,
                "message": finding.message,
                "why": finding.why,
                "instead": finding.instead,
                "evidence": asdict(finding.evidence),
            }
            for finding in findings
        ],
    }


def _print(
    spec: ServerSpec, tools: ToolList, findings: Sequence[LintFinding], ignored: int
) -> None:
    console = stdout_console()
    told: set[str] = set()
    for tool, about in groupby(findings, key=lambda finding: finding.tool):
        print_text(console, Text(printable(tool or f"{spec.name} as a whole"), style="bold"))
        for finding in about:
            head = Text(f"{finding.severity} ", style=_STYLES[finding.severity])
            head.append(printable(f"{finding.rule}: {finding.message}"), style="default")
            print_text(console, head, 2)
            advice = [
                line
                for line in (
                    f"Why: {finding.why}",
                    f"Evidence: {finding.evidence.brief}.",
                    f"Instead: {finding.instead}",
                )
                if line not in told
            ]
            told.update(advice)  # the explanation is printed only once
            if advice:
                print_text(console, Text(printable("\n".join(advice)), style="dim"), 6)
    print_text(console, Text(printable(_summary(spec, tools, findings, ignored))))


def _summary(
    spec: ServerSpec, tools: ToolList, findings: Sequence[LintFinding], ignored: int
) -> str:
    counts = Counter(finding.severity for finding in findings)
    told = [
        f"{counts[severity]} {severity}{'' if counts[severity] == 1 else 's'}"
        for severity in _SEVERITIES
    ]
    told += [f"{ignored} ignored"] if ignored else []
    return (
        f"{spec.name}: {len(tools.tools)} tool{'' if len(tools.tools) == 1 else 's'}: "
        f"{', '.join(told)}"
    )
