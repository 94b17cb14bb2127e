"""Run a program of the user's with a recording proxy in front of a server."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import anyio
import click

from harness.checks import VOCABULARY
from harness.cli import shell_completion as completing
from harness.cli.options import MCP_CONFIG, TRUST, caller, servers
from harness.cli.suite_servers import caller_named, server_of
from harness.config import load_config
from harness.discovery import find_suites
from harness.drafting.variables import with_variables
from harness.errors import UsageError
from harness.judging.exit_codes import EXIT_FAILED
from harness.probing.callers import ANONYMOUS
from harness.runner.planning.prepare import suite_roots
from harness.runner.record import FILE_VARIABLE, URL_VARIABLE, RecordRequest, record
from harness.runner.run import cause_of
from harness.safe_text import printable
from harness.trust import GATE
from harness.types import JsonObject, ServerSpec


@click.command("record", context_settings={"ignore_unknown_options": True})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM…")
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME",
    shell_complete=completing.suites,
    help="Where server and identities are taken from.  [default: all of evals/]",
)
@servers("In place of the suite's; several are joined.")
@MCP_CONFIG
@TRUST
@click.option("--as", "name", metavar="IDENTITY", help="One of the suite's identities, by name.")
@caller("The caller's attributes, in place of --as.")
@click.option("--prompt", default="", help="What the program is asked; {prompt} in its arguments.")
def command(
    *,
    program: tuple[str, ...],
    suites: tuple[str, ...],
    command_lines: tuple[str, ...],
    mcp_config: str | None,
    name: str | None,
    user_context: JsonObject | None,
    prompt: str,
) -> None:
    r"""Run PROGRAM with a server behind a recording proxy, and keep what it called as a run.

    The program finds the proxy by {mcp_url} or {mcp_config} in its arguments, or by the variables
    HARNESS_MCP_URL and HARNESS_MCP_CONFIG; {mcp_config} is a file with mcpServers, as clients read
    it. The exit code is the program's; 1 if it ended well without a call.

    \b
    harness record --server "python my_server.py" -- claude --mcp-config {mcp_config}
    """
    if name is not None and user_context is not None:
        raise UsageError("--as and --user-context both say who calls", meant="Give one of them.")
    config = load_config(Path.cwd(), os.environ, mcp_config)
    needs_suites = name is not None or bool(suites) or not command_lines
    found = find_suites(suites, suite_roots(Path.cwd()), VOCABULARY) if needs_suites else ()
    spec = (
        server_of(found, command_lines, config) if found else config.server_options(command_lines)
    )
    who = caller_named(name or ANONYMOUS, found)
    GATE.plan([spec])
    request = RecordRequest(
        server=spec,
        command=program,
        prompt=prompt,
        user_context=who.user_context if user_context is None else user_context,
        identity=name,
        written_server=_written(spec, command_lines),
    )
    try:
        done = anyio.run(partial(record, request))
    except BaseExceptionGroup as group:
        raise cause_of(group) from group
    if done.log is None:
        click.echo(
            "Nothing was recorded: the program made no call. It has to connect to the server at "
            f"{{mcp_url}} or ${URL_VARIABLE}, or read {{mcp_config}} or ${FILE_VARIABLE}.",
            err=True,
        )
        raise click.exceptions.Exit(done.exit_code or EXIT_FAILED)
    run_id = done.log.header.run_id
    (result,) = done.log.results
    calls = f"{result.tool_calls} call{'' if result.tool_calls == 1 else 's'}"
    told = ", ".join(f"{number} {outcome}" for outcome, number in (result.outcomes or {}).items())
    click.echo(printable(f"Recorded {calls}: {told}"), err=True)
    click.echo(f"Look at them: harness view {run_id}", err=True)
    click.echo(f"Make cases of them: harness init --from {run_id}", err=True)
    raise click.exceptions.Exit(done.exit_code)


def _written(spec: ServerSpec, command_lines: tuple[str, ...]) -> JsonObject | str:
    """Return ``server:`` of a suite for this server: its name, or how it is started."""
    if not command_lines or spec.at is None or spec.at.file != "--server":
        return spec.name
    plain, _ = with_variables(spec)
    transport = plain.transport
    if transport.url is not None:
        return {"url": transport.url}
    return {"command": transport.command or "", "args": list(transport.args)}
