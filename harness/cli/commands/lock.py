"""Keep a server's tools in a file for version control, and tell what a change of them breaks."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from harness.base import GATE, UsageError, make_printable
from harness.cli.caller_options import find_caller
from harness.cli.options import MCP_CONFIG, PROTOCOL, START_TIMEOUT, TRUST, server_option
from harness.cli.server_tools import list_items
from harness.descriptions import (
    SurfaceChange,
    compare_surfaces,
    describe_surface,
    dump_lock,
    read_lock,
)
from harness.judging import EXIT_FAILED, EXIT_PASSED, VOCABULARY
from harness.reports import (
    build_fingerprints,
    format_workflow_command,
    physical_location,
    sarif_log,
)
from harness.runner import run_alone, suite_roots
from harness.sessions import open_sessions
from harness.suites import find_suites, load_config
from harness.types import JsonObject, Protocol, ServerSpec

_KINDS = ("breaking", "compatible", "wording")
_LEVELS = {"breaking": "error", "compatible": "note", "wording": "warning"}
_GITHUB = {"breaking": "error", "compatible": "notice", "wording": "warning"}
_ANONYMOUS = "anonymous"


@click.command("lock")
@click.argument("server", required=False, metavar="[SERVER]")
@server_option('For example "python my_server.py"; several are joined.')
@click.option(
    "--identity",
    "names",
    multiple=True,
    metavar="NAME",
    help="An identity of the project's suites; repeat it for several. Default: anonymous.",
)
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("harness.lock.json"),
    show_default=True,
    help="The file to write, or to compare with.",
)
@click.option("--check", is_flag=True, help="Compare with the file; write nothing.")
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(_KINDS),
    default=("breaking",),
    help="With --check: the kinds of change that end with exit code 1; repeat it. "
    "Default: breaking.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    help="What --check prints; github: annotations of a pull request.",
)
@MCP_CONFIG
@PROTOCOL
@START_TIMEOUT
@TRUST
def command(  # noqa: PLR0913 - one for each option
    server: str | None,
    command_lines: tuple[str, ...],
    names: tuple[str, ...],
    path: Path,
    *,
    check: bool,
    fail_on: tuple[str, ...],
    form: str,
    mcp_config: str | None,
    protocol: Protocol | None,
    start_timeout: float | None,
) -> None:
    """Keep a server's tools, instructions, resources and prompts by identity in a file.

    With --check, tell a breaking change from a compatible one and from wording.
    """
    config = load_config(Path.cwd(), os.environ, mcp_config, protocol, start_timeout)
    named = [*([server] if server else []), *command_lines]
    spec = config.server_options(named) if named else config.only_server("harness lock")
    if spec.members:
        raise UsageError("joined servers are locked one by one", meant="Name one server.")
    suites = find_suites((), suite_roots(Path.cwd()), VOCABULARY) if names else ()
    callers = {
        name: find_caller(name, suites).user_context if name != _ANONYMOUS else None
        for name in names or (_ANONYMOUS,)
    }
    GATE.require_plan([spec])
    if not check:
        path.write_text(dump_lock(spec.name, _read_surfaces(spec, callers)), encoding="utf-8")
        click.echo(f"wrote {path}: {spec.name} as {', '.join(callers)}")
        return
    # First: without a file no server need be started.
    old, text = read_lock(path)
    new = json.loads(dump_lock(spec.name, _read_surfaces(spec, callers)))["identities"]
    changes = tuple(compare_surfaces(old, new, text))
    _print_changes(changes, path, spec.name, form)
    failed = any(change.kind in fail_on for change in changes)
    raise SystemExit(EXIT_FAILED if failed else EXIT_PASSED)


def _read_surfaces(
    spec: ServerSpec, callers: dict[str, JsonObject | None]
) -> dict[str, JsonObject]:
    """Return what each caller sees of the server."""

    async def read_all() -> dict[str, JsonObject]:
        found = {}
        async with open_sessions() as pool:
            for name, user in callers.items():
                async with pool.lend_session(spec, user) as session:
                    found[name] = describe_surface(
                        session.tools,
                        await list_items(session, "resources/list", "resources"),
                        await list_items(session, "resources/templates/list", "resourceTemplates"),
                        await list_items(session, "prompts/list", "prompts"),
                    )
        return found

    return run_alone(read_all)


def _print_changes(changes: Sequence[SurfaceChange], path: Path, server: str, form: str) -> None:
    counts = Counter[str](change.kind for change in changes)
    if form == "json":
        found = [
            {
                "kind": change.kind,
                "identity": change.identity,
                "part": change.part,
                "change": change.words,
                "line": change.line,
            }
            for change in changes
        ]
        counted = {kind: counts[kind] for kind in _KINDS}
        click.echo(json.dumps({"status": "ok", "counts": counted, "changes": found}, indent=2))
    elif form == "sarif":
        rules = [{"id": kind, "defaultConfiguration": {"level": _LEVELS[kind]}} for kind in _KINDS]
        results = (_build_result(change, path, server) for change in changes)
        log = sarif_log("harness lock", f"harness-lock/{server}/", rules, results)
        click.echo(json.dumps(log, indent=2))
    elif form == "github":
        for change in changes:
            place = {"file": path.as_posix(), "line": str(change.line or 1)}
            title = {"title": f"{change.kind} change of {server}"}
            click.echo(
                format_workflow_command(_GITHUB[change.kind], place | title, change.sentence)
            )
    else:
        for kind in _KINDS:
            for change in changes:
                if change.kind == kind:
                    click.echo(f"{kind:10}  {make_printable(change.sentence)}")
        total = ", ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind])
        click.echo(f"{path}: {total or 'nothing has changed'}")


def _build_result(change: SurfaceChange, path: Path, server: str) -> JsonObject:
    return {
        "ruleId": change.kind,
        "ruleIndex": _KINDS.index(change.kind),
        "level": _LEVELS[change.kind],
        "message": {"text": change.sentence},
        "locations": [{"physicalLocation": physical_location(path.as_posix(), change.line or 1)}],
        "partialFingerprints": build_fingerprints(
            "harnessLock/v1", (server, change.identity, change.part, change.words)
        ),
    }
