"""Find problems in a server's tools that make LLMs fail."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from harness.base import UsageError, format_count, make_printable
from harness.cli.options import bundle_options, shown_option
from harness.cli.run_lookup import open_run
from harness.cli.server_tools import LISTED, ServerTools
from harness.descriptions import (
    EVERY_TOOL,
    BaselineChange,
    LintFinding,
    Severity,
    Threshold,
    build_sarif,
    check_ignored,
    collect_repeats,
    compare_with_baseline,
    drop_ignored,
    estimated_tokens,
    has_finding_at,
    is_on_security,
    lint_tools,
    load_rules,
    read_baseline,
    read_failed_calls,
)
from harness.judging import EXIT_FAILED, EXIT_PASSED
from harness.reports import print_text, stdout_console
from harness.types import JsonObject, ToolCall, dataclass

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
        explained: set[str] = set()
        repeats, others = collect_repeats(self.findings)
        if repeats:
            print_text(console, Text("several tools", style="bold"))
        for repeated in repeats:
            _print_finding(console, repeated.finding, repeated.message, explained)
        for tool, about in groupby(others, key=lambda finding: finding.tool):
            head = tool or f"{self.server} as a whole"
            print_text(console, Text(make_printable(head), style="bold"))
            for finding in about:
                _print_finding(console, finding, finding.message, explained)
        for line in () if self.change is None else self.change.format_lines():
            print_text(console, Text(make_printable(line)))
        for failure in self.failures:
            print_text(console, Text(make_printable(failure), style="bold red"))
        counts = Counter(finding.severity for finding in self.findings)
        parts = [format_count(counts[severity], severity) for severity in _SEVERITIES]
        parts += [f"{self.ignored} ignored"] if self.ignored else []
        summary = f"{self.server}: {format_count(self.tools, 'tool')}: {', '.join(parts)}"
        print_text(console, Text(make_printable(summary)))


def _print_finding(
    console: Console, finding: LintFinding, message: str, explained: set[str]
) -> None:
    text = Text(f"{finding.severity} ", style=_STYLES[finding.severity])
    text.append(make_printable(f"{finding.rule}: {message}"), style="default")
    print_text(console, text, 2)
    # A rule often finds the same in many tools: the explanation is printed only once.
    advice = [
        f"Why: {finding.rationale}",
        f"Evidence: {finding.evidence.summary}.",
        f"Instead: {finding.instead}",
    ]
    advice = [line for line in advice if line not in explained]
    explained.update(advice)
    if advice:
        print_text(console, Text(make_printable("\n".join(advice)), style="dim"), 6)


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


@click.command("lint")
@LISTED
@bundle_options(
    "form",
    lambda json_output, form: "json" if json_output else form,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    shown_option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "sarif"]),
        default="text",
        help="What to print; json is --json-output, sarif is for code scanning.",
    ),
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    help="Ignore the findings of a rule; may be repeated.",
)
@shown_option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="warning",
    help="Lowest severity with which a finding makes the exit code 1.",
)
@click.option(
    "--security",
    is_flag=True,
    help="Only rules on security: orders to the model, hidden text, tools that pass for others.",
)
@click.option(
    "--run",
    metavar="RUN",
    help="Also look at the calls of a run: failures that the server did not mark.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit code 1 if the tool list takes more than about N tokens.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="JSON of an earlier lint: only new findings and a longer list make the exit code 1.",
)
def command(
    listed: ServerTools,
    *,
    form: str,
    ignore: tuple[str, ...],
    fail_on: Threshold,
    security: bool,
    run: str | None,
    max_tokens: int | None,
    baseline: Path | None,
) -> None:
    """Find problems in a server's tools that make LLMs fail, and say what to write instead.

    SERVER is the name of a configured or built-in server, or the URL of a running one. No tool is
    called and no model is asked; --run RUN also looks at the calls of an earlier run. The exit code
    is 1 if there are errors or warnings, otherwise 0 (notes do not count); --fail-on changes that.
    The server's entry in harness.yml may name findings to ignore (lint_ignore).

    With --baseline FILE, which an earlier --json-output wrote, the exit code is 1 only for findings
    that are new since then, or if the list takes more tokens.
    """
    linted = _lint_server(listed, ignore, _read_calls(run, listed.server.name))
    if security:
        linted = replace(linted, findings=tuple(filter(is_on_security, linted.findings)))
    if baseline is not None:
        earlier = read_baseline(baseline, listed.server.name)
        if security:
            # What this command did not look at is neither new nor gone.
            earlier = replace(earlier, keys=frozenset(filter(is_on_security, earlier.keys)))
        linted = replace(
            linted, change=compare_with_baseline(linted.findings, linted.tokens, earlier)
        )
    linted = replace(linted, failures=_find_failures(linted, max_tokens, fail_on))
    if form == "json":
        click.echo(json.dumps(linted.document))
    elif form == "sarif":
        sarif = build_sarif(linted.findings, listed.server, load_rules(), Path.cwd())
        click.echo(json.dumps(sarif, indent=2))
        # On stderr: stdout has the document alone, which says nothing of the size of the list.
        click.echo("\n".join(linted.failures), err=True, nl=bool(linted.failures))
    else:
        linted.print_report()
    # With a baseline only what is new counts; all findings are still shown.
    change = linted.change
    counted = linted.findings if change is None else [finding for _, finding in change.new]
    failed = linted.failures or has_finding_at(counted, fail_on)
    raise click.exceptions.Exit(EXIT_FAILED if failed else EXIT_PASSED)


def _read_calls(run: str | None, server: str) -> tuple[ToolCall, ...]:
    """Return the failed calls of ``server`` in ``run``.

    Raises:
        UsageError: the run has no such server.
    """
    if run is None:
        return ()
    log = open_run(run)
    if server not in log.header.servers:
        raise UsageError(
            f"--run: {log.header.run_id} has no server {server!r}",
            meant=f"Its servers are: {', '.join(log.header.servers)}.",
        )
    return tuple(read_failed_calls(log, server))


def _lint_server(
    listed: ServerTools, ignore: tuple[str, ...], failed_calls: tuple[ToolCall, ...]
) -> LintResult:
    found = lint_tools(listed.tools, failed_calls, listed.homes)
    configured = listed.server.lint_ignore
    # A rule or tool that is misspelt would hide nothing, and nobody would see it.
    check_ignored({EVERY_TOOL: ignore}, listed.tools, "--ignore")
    place = f"{listed.server.at}: " if listed.server.at else ""
    of = f"{place}lint_ignore of the server {listed.server.name!r}"
    check_ignored(configured, listed.tools, of)
    findings = drop_ignored(drop_ignored(found, {EVERY_TOOL: ignore}), configured)
    return LintResult(
        server=listed.server.name,
        tools=len(listed.tools.tools),
        tokens=sum(map(estimated_tokens, listed.tools.tools)),
        findings=findings,
        ignored=len(found) - len(findings),
    )


def _find_failures(
    linted: LintResult, max_tokens: int | None, fail_on: Threshold
) -> tuple[str, ...]:
    """Return why the size of the tool list fails the command, in sentences."""
    told = []
    if max_tokens is not None and linted.tokens > max_tokens:
        told.append(
            f"The list takes about {linted.tokens:,} tokens, more than --max-tokens {max_tokens:,}."
        )
    change = linted.change
    if change is not None and change.added_tokens > 0 and fail_on != "never":
        told.append(
            f"The list takes about {linted.tokens:,} tokens, {change.added_tokens:,} more than the "
            "baseline. If that is worth it, write the baseline again."
        )
    return tuple(told)
