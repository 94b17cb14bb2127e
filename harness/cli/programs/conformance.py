"""Run the official conformance scenarios on a server over HTTP."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import urlsplit

import click

from harness.agents import (
    ANY_NAME,
    REVISIONS,
    VERSION,
    ConformanceRun,
    ScenarioResult,
    ServerOffer,
    find_package,
    run_scenarios,
)
from harness.base import GATE, NotAdmitted, ServerError, UsageError, format_count, make_printable
from harness.cli.options import (
    MCP_CONFIG,
    START_TIMEOUT,
    TRUST,
    BoundedNumber,
    bundle_options,
    caller_option,
    server_option,
)
from harness.cli.server_tools import list_items
from harness.judging import EXIT_FAILED, EXIT_NOTHING, EXIT_PASSED, EXIT_UNJUDGED
from harness.runner import run_alone
from harness.sessions import Session, delivery_of, open_sessions
from harness.suites import load_config
from harness.types import JsonObject, Protocol, ServerSpec, dataclass

_PROTOCOLS: dict[str, Protocol] = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
_STATUSES = ("passed", "failed", "not testable")


@dataclass(frozen=True, slots=True)
class TestedServer:
    """A server, and the caller as whom the scenarios are run."""

    server: ServerSpec
    user_context: JsonObject | None


def _find_server(
    server: str | None,
    command_lines: tuple[str, ...],
    mcp_config: str | None,
    start_timeout: float | None,
    user_context: JsonObject | None,
) -> TestedServer:
    config = load_config(Path.cwd(), os.environ, mcp_config, None, start_timeout)
    named = [*([server] if server else []), *command_lines]
    spec = config.server_options(named) if named else config.only_server("harness conformance")
    if spec.members:
        raise UsageError("joined servers are tested one by one", meant="Name one server.")
    if spec.transport.kind != "http":
        raise UsageError(
            f"the conformance package tests servers over streamable HTTP, and server {spec.name!r} "
            f"is reached over {spec.transport.kind}",
            meant="Start it over HTTP, and name its URL or an entry with 'type: http'.",
        )
    delivery = delivery_of(spec.identity)
    if user_context is not None and (delivery.logs_in or delivery.build_meta(user_context)):
        raise UsageError(
            f"identities by {spec.identity.via} cannot be added to the scenarios' requests",
            meant="Leave --user-context out, or use headers or bearer tokens.",
        )
    GATE.require_plan([spec])
    return TestedServer(spec, user_context)


@click.command("conformance")
@bundle_options(
    "tested",
    _find_server,
    click.argument("server", required=False, metavar="[SERVER]"),
    server_option("The server, in place of SERVER."),
    MCP_CONFIG,
    START_TIMEOUT,
    TRUST,
    caller_option("Caller whose headers or token the requests have."),
)
@click.option(
    "--revision",
    type=click.Choice(REVISIONS),
    default=REVISIONS[0],
    show_default=True,
    help="Revision of MCP whose requirements are tested.",
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME",
    help="Run only this scenario; repeat it for several.",
)
@click.option(
    "--package",
    "folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help=f"Folder in which the package is installed.  [default: npx gets {VERSION}]",
)
@click.option(
    "--timeout",
    "timeout_s",
    metavar="SECONDS",
    type=BoundedNumber(1, 3600),
    default=30.0,
    show_default=True,
    help="End a scenario that takes longer; it fails.",
)
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
def command(
    tested: TestedServer,
    *,
    revision: str,
    scenarios: tuple[str, ...],
    folder: Path | None,
    timeout_s: float,
    json_output: bool,
) -> None:
    """Run the official conformance scenarios on SERVER, which is reached over HTTP.

    They are those of the package @modelcontextprotocol/conformance and need Node.js 22. A scenario
    that asks for a tool, resource or prompt that the server lacks is not testable.
    """
    package = find_package(folder)
    if package.version != VERSION:
        told = (
            f"The package is {package.version}; results of {VERSION} are known to be read rightly."
        )
        click.echo(make_printable(told), err=True)

    # What a server offers may differ by revision.
    transport = replace(tested.server.transport, protocol=_PROTOCOLS[revision])
    server = replace(tested.server, transport=transport)

    async def run() -> list[ScenarioResult]:
        async with (
            open_sessions() as pool,
            pool.lend_address(server, tested.user_context) as (url, added),
        ):
            if added.query or urlsplit(url).username:
                raise UsageError(
                    "the scenarios' requests cannot have an identity in the URL",
                    meant="Send it by a header.",
                )
            offer = None
            try:
                async with pool.lend_session(server, tested.user_context) as session:
                    offer = await _read_offer(session)
            # A server that breaks the protocol may fail here: that is what the scenarios are for.
            except ServerError as error:
                if isinstance(error, NotAdmitted):
                    raise
                click.echo(f"Its tools could not be listed: {make_printable(str(error))}", err=True)
            request = ConformanceRun(
                package=package,
                url=url,
                headers=added.headers,
                revision=revision,
                scenarios=scenarios,
                timeout_s=timeout_s,
            )
            return await run_scenarios(request, offer)

    results = run_alone(run)
    (_print_json if json_output else _print_text)(results, revision, package.version)
    raise SystemExit(choose_conformance_exit(results))


async def _read_offer(session: Session) -> ServerOffer:
    resources = await list_items(session, "resources/list", "resources")
    templates = await list_items(session, "resources/templates/list", "resourceTemplates")
    prompts = await list_items(session, "prompts/list", "prompts")
    uris = [str(one.get("uri")) for one in resources]
    uris += [str(one.get("uriTemplate")).partition("{")[0] + ANY_NAME for one in templates]
    return ServerOffer(
        capabilities=session.introduction.capabilities,
        names={
            "tool": [tool.name for tool in session.tools.tools],
            "prompt": [str(one.get("name")) for one in prompts],
            "resource": uris,
        },
    )


def choose_conformance_exit(results: Sequence[ScenarioResult]) -> int:
    """Return the exit code, by the scenarios that the revision requires, or that were named."""
    statuses = {one.status for one in results if one.unscored is None}
    if not statuses:
        return EXIT_NOTHING
    if "failed" in statuses:
        return EXIT_FAILED
    return EXIT_PASSED if statuses == {"passed"} else EXIT_UNJUDGED


def _print_json(results: Sequence[ScenarioResult], revision: str, version: str) -> None:
    found = {
        "revision": revision,
        "package": version,
        "counts": _count(results),
        "scenarios": [asdict(one) for one in results],
    }
    click.echo(json.dumps({"status": "ok", "result": found}))


def _count(results: Sequence[ScenarioResult]) -> dict[str, int]:
    counts = Counter[str](one.status for one in results if one.unscored is None)
    return {status: counts[status] for status in _STATUSES}


def _print_text(results: Sequence[ScenarioResult], revision: str, version: str) -> None:
    for one in results:
        mark = f" ({one.unscored}: not required)" if one.unscored else ""
        why = f": {'; '.join(one.why)}" if one.why else ""
        line = f"{one.status:12}  {one.name}  {one.passed}/{one.total}{mark}{why}"
        click.echo(make_printable(line))
        for warning in one.warnings:
            click.echo(make_printable(f"{'':12}  warning: {warning}"))
    told = ", ".join(f"{count} {status}" for status, count in _count(results).items() if count)
    required = format_count(sum(one.unscored is None for one in results), "scenario")
    click.echo(f"{required} of {revision} (package {version}): {told or 'none was run'}")
