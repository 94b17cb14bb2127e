"""Make one call of a server's tool, as one of a suite's identities, and show the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import get_args

import anyio
import click

from harness.base import NotAdmitted, format_seconds, make_printable
from harness.cli.caller_options import ONE_CALLER, ChosenCaller
from harness.cli.options import json_object
from harness.cli.single_call import SingleCall, make_call, make_call_altered
from harness.judging import EXIT_FAILED, EXIT_PASSED
from harness.probing import ProbeCaller
from harness.types import Credential, JsonObject, ToolCall


@click.command("call")
@click.argument("tool")
@ONE_CALLER
@click.option(
    "--credential",
    type=click.Choice(get_args(Credential)),
    default="valid",
    show_default=True,
    metavar="KIND",
    help="Kind of token to send, such as expired or none.",
)
@json_object("args JSON|@FILE", "Arguments.")
@json_object("meta JSON|@FILE", "Entries to add to _meta.")
@click.option("--times", type=click.IntRange(1, 1000), default=1, help="Repeat the call N times.")
@click.option(
    "--after", metavar="IDENTITY", help="Let this identity make the call right before, too."
)
@click.option(
    "--altered",
    metavar="VALUE",
    help="Call with both sets of data of a value that the suite alters ('interference').",
)
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(  # noqa: PLR0913 - one for each option of the command line
    *,
    tool: str,
    chosen: ChosenCaller,
    credential: Credential,
    args: JsonObject | None,
    meta: JsonObject | None,
    times: int,
    after: str | None,
    altered: str | None,
    json_output: bool,
) -> None:
    """Call TOOL once, as one of a suite's identities, and show what the server answers.

    No model is asked and no run is recorded. Each finding of harness probe prints the command that
    repeats its call. The exit code is 0 if the call worked, and 1 if it was refused or failed.
    """
    who = replace(chosen.caller, credential=credential)
    one = SingleCall(
        tool=tool,
        arguments=args or {},
        meta=meta or {},
        caller=who,
        times=times,
        after=None if after is None else chosen.find_caller(after),
    )
    try:
        if altered is None:
            answers: Mapping[str, ToolCall] = {"": anyio.run(make_call, chosen.server, one)}
        else:
            answers = anyio.run(
                make_call_altered, chosen.server, one, *chosen.find_alteration(altered)
            )
    except NotAdmitted as error:
        # A server that admits nobody of that kind has refused the call: that is an answer, and no
        # fault.
        click.echo(json.dumps({"outcome": "denied", "text": str(error)}) if json_output else error)
        raise click.exceptions.Exit(EXIT_FAILED) from error
    if json_output:
        documents = {which: asdict(answer) for which, answer in answers.items()}
        whole = documents.get("", documents)
        click.echo(json.dumps(whole, ensure_ascii=False, default=str))
    for which, answer in () if json_output else answers.items():
        with_data = f" with {which} of {altered}" if which else ""
        before = "" if after is None else f" after {after}"
        click.echo(make_printable("\n".join(_format_answer(answer, who, f"{before}{with_data}"))))
    worked = all(answer.outcome == "ok" for answer in answers.values())
    raise click.exceptions.Exit(EXIT_PASSED if worked else EXIT_FAILED)


def _format_answer(answer: ToolCall, who: ProbeCaller, how: str) -> Iterator[str]:
    shown = "" if who.credential == "valid" else f" ({who.credential})"
    took = format_seconds(answer.duration_s)
    yield f"{answer.tool} as {who.name}{shown}{how}: {answer.outcome}, {took}"
    if answer.structured is not None:
        yield json.dumps(answer.structured, ensure_ascii=False, indent=2, default=str)
    else:
        yield answer.text
