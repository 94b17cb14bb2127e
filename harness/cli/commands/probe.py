"""Test a server's access policy directly, as every identity, without a model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import click

from harness.base import NothingToRun, UsageError, did_you_mean, make_printable
from harness.cli.caller_options import find_server
from harness.cli.hijack_probe import refuse_other_options, replay_attacks
from harness.cli.options import (
    MCP_CONFIG,
    PROTOCOL,
    START_TIMEOUT,
    TRUST,
    complete_suites,
    server_option,
    shown_option,
)
from harness.cli.probe_output import build_document, format_lines, summarize_probe
from harness.cli.results_output import ScoreRequest, report_requests
from harness.cli.run_options import SCORE
from harness.judging import EXIT_FAILED, VOCABULARY
from harness.probing import (
    KINDS,
    DecisionChange,
    KeptTable,
    Kind,
    Narrowing,
    ProbeBudget,
    ProbeOptions,
    ProbePlan,
    ProbeReport,
    SuiteScore,
    check_alterations,
    expand_alterations,
    find_changes,
    name_callers,
    probe_scoring,
    read_frozen,
    run_probe,
    write_frozen,
)
from harness.reports import ReportRequest, keep_store, stdout_console, write_report
from harness.runlog import RUNS, amend_log
from harness.runner import RunRequest, suite_roots
from harness.suites import find_suites, load_config
from harness.types import Protocol


@click.command("probe")
@click.argument("suites", nargs=-1, metavar="[SUITE]...", shell_complete=complete_suites)
@server_option("Probe this server in place of the suite's; several are joined.")
@MCP_CONFIG
@PROTOCOL
@START_TIMEOUT
@TRUST
@click.option(
    "--destructive",
    is_flag=True,
    help="Also make calls that change something, or may change something.",
)
@click.option(
    "--attacks",
    metavar="standard|FILE",
    help="Instead, replay attacks: a test's calls, then the attacker's, as every identity.",
)
@click.option(
    "--named-only",
    is_flag=True,
    help="Call only as the suite's own identities: no altered attributes, no forged calls.",
)
@click.option(
    "--expect",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fail if a decision differs from this file.",
)
@shown_option(
    "--fail-on",
    type=click.Choice(["any", "more"]),
    default="any",
    help="Which differences from --expect fail: any, or only those that give more access.",
)
@click.option(
    "--update",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the decisions to this file, for --expect.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    callback=report_requests,
    metavar="FORMAT[:PATH]",
    help="Write the probe as html, junit, json or another report; may be repeated.",
)
@SCORE
@click.option(
    "--min-coverage",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Fail if the probe calls a smaller share of parameters × identities.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(min=1),
    metavar="N",
    help="Make at most N calls, the likeliest holes first; what is left unasked is said.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    metavar="M",
    help="Ask for at most M minutes, in the same way.",
)
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="NAME",
    help="Call only this tool, or those of a pattern such as 'get_*'; may be repeated.",
)
@click.option(
    "--identity",
    "identities",
    multiple=True,
    metavar="NAME",
    help="Try only as this identity to get more; the others are asked to compare. May be repeated.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([*KINDS]),
    help="Beside the regular calls, make only calls of this kind; may be repeated.",
)
@click.option(
    "--no-interference",
    is_flag=True,
    help="Skip the 'interference' section of the suite: alter no withheld value.",
)
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(  # noqa: PLR0913 - one for each option
    suites: tuple[str, ...],
    command_lines: tuple[str, ...],
    mcp_config: str | None,
    expect: Path | None,
    update: Path | None,
    fail_on: str,
    min_coverage: float | None,
    *,
    attacks: str | None,
    max_calls: int | None,
    minutes: float | None,
    tools: tuple[str, ...],
    identities: tuple[str, ...],
    kinds: tuple[Kind, ...],
    score: ScoreRequest,
    protocol: Protocol | None,
    start_timeout: float | None,
    reports: tuple[ReportRequest, ...],
    destructive: bool,
    named_only: bool,
    no_interference: bool,
    json_output: bool,
) -> None:
    """Test a server's access policy directly: every identity makes every call, without a model.

    Identities and calls come from SUITE (a name or a path; without it, all of evals/). Tools that
    are marked as read-only and that no suite calls are called with arguments drafted from their
    schema. A probe is free and reproducible. The exit code is 1 if a problem is found: a leak, a
    hidden tool that works, a policy that fails open, a decision that the suite does not expect.
    """
    if attacks is not None:
        refuse_other_options(click.get_current_context())
        replay_attacks(
            RunRequest(
                suites=suites,
                server=command_lines,
                mcp_config=mcp_config,
                protocol=protocol,
                start_timeout_s=start_timeout,
                attacks=attacks,
            ),
            reports,
            destructive=destructive,
            as_json=json_output,
        )
    # First of all: a mistake in the file must not cost a whole probe.
    kept = None if expect is None else read_frozen(expect)
    config = load_config(Path.cwd(), os.environ, mcp_config, protocol, start_timeout)
    chosen = find_suites(suites, suite_roots(Path.cwd()), VOCABULARY)
    spec = find_server(chosen, command_lines, config)
    if spec.transport.recorded is not None:
        raise UsageError(
            "a recording cannot be probed: it answers the calls that were made, and no others",
            meant="Name the server itself.",
        )
    cases = tuple(case for suite in chosen for case in suite.cases)
    callers = name_callers(cases)
    # Only the anonymous caller: there is nothing to compare, except answers to consent gates.
    if len(callers) < 2 and kinds != ("consent",):  # noqa: PLR2004
        raise NothingToRun("the suite has no identity: give its tests a user_context, or 'as:'")
    _check_identities(identities, [caller.name for caller in callers])
    narrowing = Narrowing(tools=tools, identities=identities, kinds=kinds)
    skips = no_interference or not narrowing.has_kind("altered")
    declared = [one for suite in chosen if not skips for one in suite.alterations]
    check_alterations(declared, spec, callers)
    plan = ProbePlan(
        server=spec,
        callers=callers,
        cases=cases,
        destructive=destructive,
        damaged=not named_only,
        min_coverage=min_coverage,
        origin=ProbeOptions(suites=suites, servers=command_lines),
        alterations=expand_alterations(declared, os.environ),
        budget=ProbeBudget(calls=max_calls, minutes=minutes),
        narrowing=narrowing,
    )

    def failing_changes(report: ProbeReport) -> list[DecisionChange]:
        found = [] if kept is None else find_changes(kept, report.decisions)
        return [change for change in found if fail_on == "any" or change.direction == "more"]

    table = None if kept is None else KeptTable(decisions=kept, more_only=fail_on == "more")
    suite_score = (
        SuiteScore(probe_scoring(cases, table), score.min_score) if score.is_requested else None
    )

    # On stderr, since stdout may have the JSON document; by lines, since it may be a pipe.
    def tell(line: str) -> None:
        click.echo(make_printable(line), err=True)

    asked = partial(run_probe, plan, RUNS, tell, failing_changes, suite_score, kept=kept)
    log, report, skipped = anyio.run(asked)
    # Into the log as well, since reports and auditors read it, and nobody sees the console again.
    log = amend_log(
        log, told=tuple(make_printable(line) for line in summarize_probe(report, skipped))
    )
    if update is not None:
        write_frozen(update, report)
    changed = [] if kept is None else list(find_changes(kept, report.decisions))
    is_low = suite_score is not None and suite_score.fault is not None
    fails = EXIT_FAILED if failing_changes(report) or is_low else report.exit_code
    for request in reports:
        path, _ = write_report(request, report.report, log)
        # On stderr: stdout may have the JSON document.
        click.echo(f"{request.format} report: {path}", err=True)
    if json_output:
        whole = build_document(report, skipped, changed, fails)
        whole |= {} if suite_score is None else {"mutants": suite_score.document}
        click.echo(json.dumps(whole, ensure_ascii=False))
    else:
        console = stdout_console()
        for line, style in format_lines(report, skipped, changed, console.width):
            console.print(make_printable(line), style=style, soft_wrap=True)
        for line, style in () if suite_score is None else suite_score.lines:
            console.print(make_printable(line), style=style, soft_wrap=True)
        if update is not None:
            click.echo(
                f"These decisions are kept in {update}; compare later runs with --expect {update}"
            )
    sys.stdout.flush()
    keep_store(log, report.report)  # after everything that somebody waits for
    raise click.exceptions.Exit(fails)


def _check_identities(names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(
                f"the suite has no identity {name!r}",
                meant=did_you_mean(name, known) or f"Identities: {', '.join(known)}.",
            )
