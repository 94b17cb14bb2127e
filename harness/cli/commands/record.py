"""Run a program, and record its calls of a server's tools."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.agents import FILE_VARIABLE, URL_VARIABLE
from harness.base import UsageError, format_count, make_printable
from harness.cli.caller_options import ONE_CALLER, ChosenCaller
from harness.descriptions import build_server_entry, server_entry
from harness.judging import EXIT_FAILED
from harness.reports import build_report, keep_store
from harness.runner import RecordRequest, get_habit, record_program, run_alone
from harness.suites import choose_variants
from harness.types import JsonObject, ServerSpec, Suite, Variant


@click.command("record", context_settings={"ignore_unknown_options": True})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- PROGRAM…")
@ONE_CALLER
@click.option("--prompt", default="", help="What the program is asked; {prompt} in its arguments.")
@click.option(
    "--variant",
    "variant_name",
    metavar="NAME",
    help="What the program sees of the tools: a variant of the suite, or FILE.yml[:NAME].",
)
@click.option(
    "--client-can",
    "abilities",
    multiple=True,
    type=click.Choice(["elicitation", "sampling", "nothing"]),
    default=("elicitation",),
    show_default=True,
    help="Requests of a server that the program can answer; told to servers of the protocol "
    "revisions with a handshake (initialize).",
)
def command(
    *,
    program: tuple[str, ...],
    chosen: ChosenCaller,
    prompt: str,
    variant_name: str | None,
    abilities: tuple[str, ...],
) -> None:
    """Run PROGRAM with a server behind a recording proxy, and keep what it called as a run.

    The program finds the proxy by {mcp_url} or {mcp_config} in its arguments, or by the variables
    HARNESS_MCP_URL and HARNESS_MCP_CONFIG; {mcp_config} is a file with mcpServers, as clients read
    it, {mcp_config_stdio} the same for a client that only starts processes. The exit code is the
    program's; 1 if it ended well without a call.

    \b
    harness record --server "python my_server.py" -- claude --mcp-config {mcp_config}
    """  # noqa: D301 - the backspace keeps click from filling these lines
    request = RecordRequest(
        server=chosen.server,
        command=program,
        prompt=prompt,
        user_context=chosen.caller.user_context,
        identity=chosen.identity,
        abilities=tuple(each for each in abilities if each != "nothing"),
        variant=_find_variant(chosen.suites, variant_name),
        written_server=_server_entry(chosen),
    )
    done = run_alone(record_program, request)
    if done.strangers:
        refused = format_count(done.strangers, "request")
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
    calls = format_count(result.tool_calls, "call")
    told = ", ".join(f"{number} {outcome}" for outcome, number in (result.outcomes or {}).items())
    click.echo(make_printable(f"Recorded {calls}: {told}"), err=True)
    click.echo(f"Look at them: harness view {run_id}", err=True)
    click.echo(f"Make cases of them: harness init --from {run_id}", err=True)
    keep_store(done.log, build_report(done.log))  # after everything that somebody waits for
    raise click.exceptions.Exit(done.exit_code)


def _find_variant(suites: Sequence[Suite], name: str | None) -> Variant | None:
    """Return the only variant that ``name`` stands for.

    Raises:
        UsageError: there is none, or there are several.
    """
    if name is None:
        return None
    known = Suite(
        name="the suites", cases=(), variants=tuple(v for s in suites for v in s.variants)
    )
    variants = choose_variants(known, [name])
    if len(variants) > 1:
        raise UsageError(
            f"{name} has {len(variants)} variants, and a session has one",
            meant=f"Name it: {name}:NAME.",
        )
    (variant,) = variants
    if variant is not None and (habit := get_habit(variant)) is not None:
        key, does = habit
        raise UsageError(
            f"variant {variant.name!r} has {key!r}, which is for models: a program {does} itself",
            meant="Take it out for 'harness record'.",
        )
    return variant


def _server_entry(chosen: ChosenCaller) -> JsonObject | list[str] | str:
    """Return ``server:`` of a suite for this server: one name or several, or how it is started."""
    typed = zip(chosen.typed, chosen.server.members or (chosen.server,), strict=True)
    facts = (
        [build_server_entry(*each)[0] for each in typed] if chosen.typed else [chosen.server.name]
    )
    if len(facts) > 1:
        return [fact.name if isinstance(fact, ServerSpec) else fact for fact in facts]
    return server_entry(facts[0]) if isinstance(facts[0], ServerSpec) else facts[0]
