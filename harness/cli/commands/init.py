"""Draft a first suite from a server's tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from harness.base import GATE, UsageError, format_count, format_path, make_printable
from harness.cli.options import (
    MCP_CONFIG,
    PROTOCOL,
    START_TIMEOUT,
    TRUST,
    caller_option,
    complete_runs,
    server_option,
)
from harness.cli.run_lookup import open_run
from harness.cli.server_tools import list_tools
from harness.descriptions import (
    DraftSuite,
    RecordedCases,
    build_server_entry,
    build_suite_from_messages,
    build_suite_from_run,
    draft_suite,
    logged_server_entry,
    require_free,
    server_entry,
    suite_name,
    suite_text,
    write_new,
)
from harness.runlog import RECORDED_SERVER
from harness.runner import is_message_file
from harness.suites import Config, describe_actions, load_config
from harness.types import JsonObject, Protocol, ServerSpec


@click.command("init")
@click.argument("server", required=False, metavar="[SERVER]")
@server_option('For example "python my_server.py".')
@TRUST
@click.option(
    "--name", metavar="NAME", help="Name of the suite and its file.  [default: the server's]"
)
@click.option(
    "--from",
    "run",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Make cases of what went well in a run, such as one of harness record, or in "
    "conversations in JSON (messages of OpenAI or Anthropic).",
)
@click.option("--print", "printed", is_flag=True, help="Print the suite instead of writing a file.")
@MCP_CONFIG
@PROTOCOL
@START_TIMEOUT
@caller_option("Caller to list the tools as.")
def command(  # noqa: PLR0913 - one for each option
    *,
    server: str | None,
    run: str | None,
    printed: bool,
    command_lines: tuple[str, ...],
    name: str | None,
    mcp_config: str | None,
    protocol: Protocol | None,
    start_timeout: float | None,
    user_context: JsonObject | None,
) -> None:
    """Draft a first suite from a server's tools, into evals/NAME.yml.

    The server is started and its tools are listed; no tool is called. SERVER is the name of a
    configured or built-in server, or the URL of a running one. With --from, the cases are what
    went well in a run or a file of conversations. Existing files are never overwritten.
    """
    project = Path.cwd()
    config = load_config(project, os.environ, mcp_config, protocol, start_timeout)
    if run is not None and not is_message_file(Path(run)):
        if server or command_lines:
            raise UsageError("--from takes the server from the run", meant="Leave SERVER out.")
        _draft_from_run(run, name, project, config, printed)
        return
    text = _choose_server([*([server] if server else []), *command_lines], config)
    spec = config.server_option(text)
    stem = suite_name(spec, name)
    # Before the server is started: a file that is in the way is told at once.
    path = None if printed else require_free(stem, project)
    if run is not None:
        facts, variables = build_server_entry(text, spec)
        entry = server_entry(facts) if isinstance(facts, ServerSpec) else facts
        made = build_suite_from_messages(Path(run), stem, entry)
        _write_cases(made, path, run, stem)
        _explain_variables(variables)
        return
    GATE.require_plan([spec])
    tools = list_tools(spec, user_context)
    server_facts, variables = build_server_entry(text, spec)
    suite = draft_suite(stem, server_facts, tools, user_context)
    if path is None:
        click.echo(suite_text(suite), nl=False)
        _explain_variables(variables)
        return
    written = write_new(path, suite_text(suite))
    # The file has only what the user has just typed, so the next command need not ask for trust.
    if isinstance(server_facts, ServerSpec):
        GATE.vouch(path, replace(server_facts, deeds=describe_actions(server_facts)))
    _print_summary(suite, written)
    _explain_variables(variables)


def _explain_variables(variables: Sequence[str]) -> None:
    for variable in variables:
        click.echo(
            f"Note: a secret in the command line was left out of the file: set {variable} to its "
            "value.",
            err=True,
        )


def _draft_from_run(
    run: str, name: str | None, project: Path, config: Config, printed: bool
) -> None:
    log = open_run(run)
    if len(log.header.servers) != 1:
        raise UsageError(
            f"the run {log.header.run_id} has {len(log.header.servers)} servers, and a suite has "
            "one",
            meant="Name a run of one suite.",
        )
    ((server, facts),) = log.header.servers.items()
    recorded = log.header.settings.get(RECORDED_SERVER)
    reference = recorded or (server if config.knows_server(server) else logged_server_entry(facts))
    stem = suite_name(ServerSpec(name=f"{server}_recorded"), name)
    path = None if printed else require_free(stem, project)
    _write_cases(build_suite_from_run(log, stem, reference), path, log.header.run_id, stem)


def _write_cases(made: RecordedCases, path: Path | None, source: str, stem: str) -> None:
    """Write the suite to ``path``, or without one to stdout."""
    if path is None:
        click.echo(made.text, nl=False)
        left_out = "".join(f"Left out: {one}\n" for one in made.left_out)
        click.echo(make_printable(left_out), err=True, nl=False)
        return
    lines = [f"Wrote {format_path(written)}" for written in write_new(path, made.text)]
    lines.append(f"{format_count(made.cases, 'case')} of {source}.")
    lines += [f"Left out: {left_out}" for left_out in made.left_out]
    lines += ["Next:", f"  harness evals {stem} --model claude-4-sonnet"]
    click.echo(make_printable("\n".join(lines)))


def _choose_server(named: Sequence[str], config: Config) -> str:
    """Return the server to draft a suite for: the given one, a client's only one, or ask for it.

    Raises:
        UsageError: there are several servers, or none is given and there is no terminal to ask on.
    """
    known = named or list(config.client.servers if config.client is not None else ())
    if len(known) > 1:
        raise UsageError(
            f"a suite is drafted for one server, and these are {len(known)}: {', '.join(known)}",
            meant=f'Name one of them: harness init --server "{known[0]}"; then join them in a '
            f"suite by server: [a, b].",
        )
    if known:
        return known[0]
    # The question is on stderr, so both must be a terminal.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "no server was given: the option --server is missing",
            meant='Write, for example: harness init --server "python my_server.py"',
        )
    answer: str = click.prompt("Command that starts your server, or its configured name", err=True)
    return answer


def _print_summary(suite: DraftSuite, written: tuple[Path, ...]) -> None:
    later = sum(not case.is_live for case in (*suite.cases, *suite.safety))
    cases = format_count(len(suite.cases) + len(suite.safety) - later, "case")
    lines = [f"Wrote {format_path(path)}" for path in written]
    lines.append(f"{cases} for {format_count(len(suite.cases), 'tool')}; no tool was called.")
    if suite.blocked:
        blocked = ", ".join(suite.blocked)
        lines.append(f"No call will be sent to: {blocked} (see 'block:' in the file)")
    if suite.unmarked:
        lines.append(
            f"The server does not say for {format_count(len(suite.unmarked), 'tool')} whether it "
            "changes something. Cases that need one fail until it is removed from 'block:'."
        )
    if later:
        wait = "waits in a comment" if later == 1 else "wait in comments"
        further = format_count(later, "further case")
        lines.append(f"{further} would change something for real, and {wait}.")
    lines += [f"Note: {note}" for note in suite.notes]
    run = f"  harness evals {suite.name}"
    lines += [
        "Next:",
        f"{run}    # the built-in baseline: free, and not an LLM",
        f"{run} --model claude-4-sonnet    # an LLM; needs ANTHROPIC_API_KEY",
    ]
    click.echo(make_printable("\n".join(lines)))
