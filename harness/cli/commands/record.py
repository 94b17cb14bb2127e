"""Run a program of the user's with a recording proxy in front of a server."""

from __future__ import annotations

from functools import partial

import anyio
import click

from harness.cli.one_caller import ONE_CALLER, OneCaller
from harness.drafting.render import started
from harness.drafting.variables import as_typed
from harness.judging.exit_codes import EXIT_FAILED
from harness.runner.record import FILE_VARIABLE, URL_VARIABLE, RecordRequest, record
from harness.runner.run import cause_of
from harness.safe_text import printable
from harness.types import JsonObject, ServerSpec


@click.command("record", context_settings={"ignore_unknown_options": True})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM…")
@ONE_CALLER
@click.option("--prompt", default="", help="What the program is asked; {prompt} in its arguments.")
def command(
    *,
    program: tuple[str, ...],
    chosen: OneCaller,
    prompt: str,
) -> None:
    r"""Run PROGRAM with a server behind a recording proxy, and keep what it called as a run.

    The program finds the proxy by {mcp_url} or {mcp_config} in its arguments, or by the variables
    HARNESS_MCP_URL and HARNESS_MCP_CONFIG; {mcp_config} is a file with mcpServers, as clients read
    it. The exit code is the program's; 1 if it ended well without a call.

    \b
    harness record --server "python my_server.py" -- claude --mcp-config {mcp_config}
    """
    request = RecordRequest(
        server=chosen.server,
        command=program,
        prompt=prompt,
        user_context=chosen.caller.user_context,
        identity=chosen.identity,
        written_server=_written(chosen),
    )
    try:
        done = anyio.run(partial(record, request))
    except BaseExceptionGroup as group:
        raise cause_of(group) from group
    if done.strangers:
        refused = "1 request" if done.strangers == 1 else f"{done.strangers} requests"
        were = "was" if done.strangers == 1 else "were"
        click.echo(f"Warning: {refused} without the session's token {were} refused.", err=True)
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


def _written(chosen: OneCaller) -> JsonObject | list[str] | str:
    """Return ``server:`` of a suite for this server: one name or several, or how it is started."""
    typed = zip(chosen.typed, chosen.server.members or (chosen.server,), strict=True)
    facts = [as_typed(*each)[0] for each in typed] if chosen.typed else [chosen.server.name]
    if len(facts) > 1:
        return [one.name if isinstance(one, ServerSpec) else one for one in facts]
    return started(facts[0]) if isinstance(facts[0], ServerSpec) else facts[0]
