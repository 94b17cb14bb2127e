"""Find problems in a server's tools that make LLMs fail."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from harness.cli.lint_output import LintResult
from harness.cli.server_tools import LISTED, ServerTools
from harness.descriptions import (
    EVERY_TOOL,
    BaselineChange,
    LintFinding,
    Threshold,
    build_sarif,
    check_ignored,
    compare_with_baseline,
    drop_ignored,
    estimated_tokens,
    has_finding_at,
    lint_tools,
    load_rules,
    read_baseline,
)
from harness.judging import EXIT_FAILED, EXIT_PASSED


@click.command("lint")
@LISTED
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="What to print; json is --json-output, sarif is for code scanning.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="RULE",
    help=("Ignore the findings of a rule; may be repeated."),
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="warning",
    show_default=True,
    help="Lowest severity with which a finding makes the exit code 1.",
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
    json_output: bool,
    form: str,
    ignore: tuple[str, ...],
    fail_on: Threshold,
    max_tokens: int | None,
    baseline: Path | None,
) -> None:
    """Find problems in a server's tools that make LLMs fail, and say what to write instead.

    SERVER is the name of a configured or built-in server, or the URL of a running one. No tool is
    called and no model is asked. The exit code is 1 if there are errors or warnings, otherwise 0
    (notes do not count); --fail-on changes that. The server's entry in harness.yml may name
    findings to ignore (lint_ignore).

    With --baseline FILE, which an earlier --json-output wrote, the exit code is 1 only for findings
    that are new since then, or if the list takes more tokens.
    """
    linted = _lint_server(listed, ignore)
    if baseline is not None:
        earlier = read_baseline(baseline, listed.server.name)
        linted = replace(
            linted, change=compare_with_baseline(linted.findings, linted.tokens, earlier)
        )
    linted = replace(linted, failures=_find_failures(linted, max_tokens, fail_on))
    if json_output or form == "json":
        click.echo(json.dumps(linted.document))
    elif form == "sarif":
        click.echo(
            json.dumps(
                build_sarif(linted.findings, listed.server, load_rules(), Path.cwd()), indent=2
            )
        )
        # On stderr: stdout has the document alone, which says nothing of the size of the list.
        click.echo("\n".join(linted.failures), err=True, nl=bool(linted.failures))
    else:
        linted.print_report()
    # With a baseline only what is new counts; all findings are still shown.
    counted = linted.findings if linted.change is None else _new_findings(linted.change)
    failed = linted.failures or has_finding_at(counted, fail_on)
    raise click.exceptions.Exit(EXIT_FAILED if failed else EXIT_PASSED)


def _lint_server(listed: ServerTools, ignore: tuple[str, ...]) -> LintResult:
    found = lint_tools(listed.tools)
    configured = listed.server.lint_ignore
    # A rule or tool that is misspelt would hide nothing, and nobody would see it.
    check_ignored({EVERY_TOOL: ignore}, listed.tools, "--ignore")
    check_ignored(configured, listed.tools, f"lint_ignore of the server {listed.server.name!r}")
    findings = drop_ignored(drop_ignored(found, {EVERY_TOOL: ignore}), configured)
    return LintResult(
        server=listed.server.name,
        tools=len(listed.tools.tools),
        tokens=sum(map(estimated_tokens, listed.tools.tools)),
        findings=findings,
        ignored=len(found) - len(findings),
    )


def _new_findings(change: BaselineChange) -> list[LintFinding]:
    return [finding for _, finding in change.new]


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
