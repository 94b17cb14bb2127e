"""Make one call of a server's tool, as one of a suite's identities, and show the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import get_args

import anyio
import click

from harness.base import NotAdmitted, format_seconds, make_printable
from harness.cli.caller_options import ONE_CALLER, ChosenCaller
from harness.cli.options import json_object, shown_option
from harness.judging import EXIT_FAILED, EXIT_PASSED
from harness.probing import ProbeCaller, Which, data_set, set_server_data, set_up_data
from harness.runner import run_alone
from harness.sessions import Pool, open_sessions, with_shared_process
from harness.types import (
    Alteration,
    Credential,
    JsonObject,
    ServerSpec,
    ToolCall,
    ToolRequest,
    dataclass,
)

_IN_ORDER: tuple[Which, ...] = ("B", "A")
"""A comes last: a server that was running before is left with the data as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCall:
    """A tool call and its caller."""

    tool: str
    """Name of the tool."""
    arguments: JsonObject
    """Arguments of the call."""
    meta: JsonObject
    """Entries that are added to ``_meta`` of the request."""
    caller: ProbeCaller
    """The caller."""
    times: int = 1
    """Number of repetitions; the last answer counts."""
    after: ProbeCaller | None = None
    """Who makes the same call right before, in the same process."""


async def make_call(server: ServerSpec, one: SingleCall) -> ToolCall:
    """Make the call in a session of its own, and return its record, whatever its outcome.

    Raises:
        NotAdmitted: the server refused the caller a session.
        ServerError: it could not be started or reached.
        UsageError: the identity or its credential cannot be told to this server.
    """
    async with open_sessions() as pool:
        # Identities usually have a process each, where one cannot change what the other is
        # answered.
        shared = server if one.after is None else with_shared_process(server)
        return await _make_call(pool, shared, one)


async def make_call_altered(
    server: ServerSpec, one: SingleCall, alteration: Alteration, callers: Sequence[ProbeCaller]
) -> Mapping[str, ToolCall]:
    """Make the call with the data as they are and with the altered value; return both records.

    Each is made by a new process, if the server is not running. Raises as `make_call` does.
    """
    made: dict[str, ToolCall] = {}
    for which in _IN_ORDER:
        async with open_sessions() as pool:
            await set_up_data(pool, server, alteration, which, callers)
            altered = set_server_data(server, data_set(alteration, which))
            made[which] = await _make_call(pool, altered, one)
    return {"A": made["A"], "B": made["B"]}


async def _make_call(pool: Pool, server: ServerSpec, one: SingleCall) -> ToolCall:
    request = ToolRequest(id="call", tool=one.tool, arguments=one.arguments, meta=dict(one.meta))
    who = one.caller
    async with pool.lend_session(server, who.user_context, who.credential) as session:
        # The caller's own session is open by now, so that nothing comes between the two calls.
        if one.after is not None:
            async with pool.lend_session(server, one.after.user_context) as before:
                await before.call(request, reply=1, epoch=anyio.current_time())
        for _ in range(one.times):
            answer = await session.call(request, reply=1, epoch=anyio.current_time())
        return answer


@click.command("call")
@click.argument("tool")
@ONE_CALLER
@shown_option(
    "--credential",
    type=click.Choice(get_args(Credential)),
    default="valid",
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
            answers: Mapping[str, ToolCall] = {"": run_alone(make_call, chosen.server, one)}
        else:
            answers = run_alone(
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
