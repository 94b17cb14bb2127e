"""Make one call of a server's tool, as one of a suite's identities, and show the answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import anyio
import click

from harness.checks import VOCABULARY
from harness.cli import shell_completion as completing
from harness.cli.one_call import OneCall, make_call
from harness.cli.options import MCP_CONFIG, TRUST, caller, json_object, servers
from harness.cli.suite_servers import caller_named, server_of
from harness.config import load_config
from harness.discovery import find_suites
from harness.errors import NotAdmitted, UsageError
from harness.judging.exit_codes import EXIT_FAILED, EXIT_PASSED
from harness.probing.callers import ANONYMOUS, ProbeCaller
from harness.runner.planning.prepare import suite_roots
from harness.safe_text import printable, seconds
from harness.trust import GATE
from harness.types import Credential, JsonObject, ToolCall


@click.command("call")
@click.argument("tool")
@click.option(
    "--suite",
    "suites",
    multiple=True,
    metavar="NAME",
    shell_complete=completing.suites,
    help="Suite that names the server and the identities.  [default: all of evals/]",
)
@servers("Server to call instead of the suite's; several are joined.")
@MCP_CONFIG
@TRUST
@click.option("--as", "name", metavar="IDENTITY", help="One of the suite's identities, by name.")
@caller("Attributes of the caller, instead of --as.")
@click.option(
    "--credential",
    type=click.Choice(get_args(Credential)),
    default="valid",
    show_default=True,
    metavar="KIND",
    help="Kind of token to send, such as expired or none.",
)
@click.option("--args", "arguments", callback=json_object, metavar="JSON|@FILE", help="Arguments.")
@click.option("--meta", callback=json_object, metavar="JSON|@FILE", help="Entries to add to _meta.")
@click.option("--times", type=click.IntRange(1, 1000), default=1, help="Repeat the call N times.")
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(  # noqa: PLR0913 - one for each option
    *,
    tool: str,
    suites: tuple[str, ...],
    command_lines: tuple[str, ...],
    mcp_config: str | None,
    name: str | None,
    user_context: JsonObject | None,
    credential: Credential,
    arguments: JsonObject | None,
    meta: JsonObject | None,
    times: int,
    json_output: bool,
) -> None:
    """Call TOOL once, as one of a suite's identities, and show what the server answers.

    No model is asked and no run is recorded. Each finding of harness probe prints the command that
    repeats its call. The exit code is 0 if the call worked, and 1 if it was refused or failed.
    """
    if name is not None and user_context is not None:
        raise UsageError("--as and --user-context both say who calls", meant="Give one of them.")
    config = load_config(Path.cwd(), os.environ, mcp_config)
    needs_suites = name is not None or bool(suites) or not command_lines
    found = find_suites(suites, suite_roots(Path.cwd()), VOCABULARY) if needs_suites else ()
    spec = (
        server_of(found, command_lines, config) if found else config.server_options(command_lines)
    )
    who = ProbeCaller(name="a caller", user_context=user_context, credential=credential)
    if user_context is None:
        who = caller_named(name or ANONYMOUS, found, credential)
    GATE.plan([spec])
    one = OneCall(tool=tool, arguments=arguments or {}, meta=meta or {}, caller=who, times=times)
    try:
        answer = anyio.run(make_call, spec, one)
    except NotAdmitted as error:
        click.echo(json.dumps({"outcome": "denied", "text": str(error)}) if json_output else error)
        raise click.exceptions.Exit(EXIT_FAILED) from error
    if json_output:
        click.echo(json.dumps(asdict(answer), ensure_ascii=False, default=str))
    else:
        click.echo(printable("\n".join(_lines(answer, who))))
    raise click.exceptions.Exit(EXIT_PASSED if answer.outcome == "ok" else EXIT_FAILED)


def _lines(answer: ToolCall, who: ProbeCaller) -> Iterator[str]:
    shown = "" if who.credential == "valid" else f" ({who.credential})"
    took = seconds(answer.duration_s)
    yield f"{answer.tool} as {who.name}{shown}: {answer.outcome}, {took}"
    if answer.structured is not None:
        yield json.dumps(answer.structured, ensure_ascii=False, indent=2, default=str)
    else:
        yield answer.text
