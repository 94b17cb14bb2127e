"""``harness probe --attacks``: what the server stops of an attacker, without a model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import anyio
import click

from harness.base import NothingToRun, UsageError, make_printable
from harness.cli.caller_options import find_server
from harness.cli.progress import show_progress
from harness.judging import VOCABULARY
from harness.probing import (
    build_hijack_document,
    build_replays,
    choose_hijack_exit,
    format_hijacks,
    list_identities,
    list_replays,
    list_tools,
    mark_leaderboard,
)
from harness.reports import (
    ReportRequest,
    build_report,
    keep_store,
    stdout_console,
    write_report,
)
from harness.runner import (
    RunOptions,
    RunRequest,
    launch_run,
    prepare_plan,
    require_trust,
    suite_roots,
)
from harness.suites import STANDARD, choose_attacks, find_hijacks, find_suites, load_config
from harness.types import HIJACK, JsonObject, Suite

_TAKEN = frozenset(
    {
        "suites",
        "command_lines",
        "mcp_config",
        "protocol",
        "start_timeout",
        "destructive",
        "attacks",
        "reports",
        "json_output",
    }
)
"""Parameters of ``harness probe`` that a replay of attacks takes."""


def refuse_other_options(context: click.Context) -> None:
    """Refuse options of a probe that say nothing about a replay of attacks.

    Raises:
        UsageError: one was given.
    """
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        # What passes nothing on, such as --trust, is for every mode.
        if given and option.expose_value and name not in _TAKEN:
            raise UsageError(
                f"--attacks takes no {option.opts[-1]}", meant="Leave one of them out."
            )


def replay_attacks(
    request: RunRequest,
    reports: Sequence[ReportRequest],
    *,
    destructive: bool,
    as_json: bool,
) -> NoReturn:
    """Replay the attacks of ``request``, print their table, and end with its exit code.

    Raises:
        NothingToRun: there is nothing to replay; the message says why.
        UsageError: suites, attacks or server are unknown or invalid.
    """
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        made, left_out = _build_suites(request, destructive=destructive)
        # Each suite has the server itself now.
        asked = replace(request, suites=(), server=(), attacks=None)
        prepared = prepare_plan(asked, Path.cwd(), os.environ, given=made)
    plan = replace(
        prepared.plan, settings={**prepared.plan.settings, "probe": True, HIJACK: left_out}
    )
    require_trust(plan)
    options = RunOptions(concurrency=prepared.concurrency)
    # A line for each of hundreds of calls says nothing to a log.
    quiet = as_json or not sys.stderr.isatty()
    with show_progress(quiet=quiet, servers=plan.servers) as observer:
        log = launch_run(plan, options, observer)
    report = build_report(log)
    code = choose_hijack_exit(report, list_replays(report))
    for wanted in reports:
        path, _ = write_report(wanted, report, log)
        # On stderr: stdout may have the JSON document.
        click.echo(f"{wanted.format} report: {path}", err=True)
    if as_json:
        click.echo(json.dumps(build_hijack_document(report, code), ensure_ascii=False))
    else:
        console = stdout_console()
        for line, style in format_hijacks(report, console.width):
            console.print(make_printable(line), style=style, soft_wrap=True)
    sys.stdout.flush()
    keep_store(log, report)  # after everything that somebody waits for
    raise click.exceptions.Exit(code)


def _build_suites(
    request: RunRequest, *, destructive: bool
) -> tuple[list[Suite], dict[str, JsonObject]]:
    """Return the suites of calls, and what was left out of each."""
    config = load_config(
        Path.cwd(), os.environ, request.mcp_config, request.protocol, request.start_timeout_s
    )
    servers = (request.server,) if isinstance(request.server, str) else request.server
    given, others = find_hijacks(request.suites)
    if given and request.attacks != STANDARD:
        raise UsageError(
            "a leaderboard has attacks of its own", meant=f"Write --attacks {STANDARD}."
        )
    made = [
        replace(mark_leaderboard(suite), server=find_server([suite], servers, config))
        for suite in given
    ]
    left_out: dict[str, JsonObject] = {
        suite.name: {"not_replayed": {}, "left_out": {}} for suite in given
    }
    own = find_suites(others, suite_roots(Path.cwd()), VOCABULARY) if others or not given else ()
    for suite in own:
        attacks = [one for one in choose_attacks(suite, request.attacks) if one is not None]
        server = find_server([suite], servers, config)
        tools = anyio.run(list_tools, server, list_identities(suite.cases))
        replays, reasons = build_replays(suite, attacks, server, tools, destructive=destructive)
        left_out[suite.name] = reasons
        made += [replays] if replays.cases else []
    if not made:
        why = "; ".join(
            f"{test}: {reason}"
            for reasons in left_out.values()
            for test, reason in reasons["not_replayed"].items()
        )
        raise NothingToRun(f"there is nothing to replay: {why or 'there is no suite'}")
    return made, left_out
