"""Serve MCP to a coding agent: suites, runs, failures and drafts of this project."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import click
from anyio.abc import Process

from harness.base import format_count
from harness.cli.mcp_tools import TOOLS, CommandTool
from harness.judging import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED
from harness.sessions import build_death_prefix
from harness.version import __version__

SKILL = Path(__file__).parents[1] / "skill" / "SKILL.md"
"""What a coding agent has to know about harness."""
MAX_ANSWER = 100_000
"""Characters of one answer: about 25,000 tokens, and more would fill an agent's context."""
END_S = 10.0
"""Seconds for a command to end its servers when its call is given up."""


@click.command("mcp")
@click.option(
    "--allow-run", is_flag=True, help="Also offer tools that start servers and run suites."
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(1, 86_400),
    default=600.0,
    show_default=True,
    help="End a call that takes longer.",
)
@click.option("--skill", is_flag=True, help="Print the SKILL.md for coding agents, and end.")
def command(allow_run: bool, timeout: float, skill: bool) -> None:
    """Serve MCP on stdin and stdout to a coding agent, about the project in this folder.

    The tools list suites and runs, explain failures, query a run in SQL, compare runs and draft
    cases. Nothing is started or written unless --allow-run is given; then suites can be run, and
    servers listed and linted. A folder that is not trusted is refused, as everywhere.

    \b
    claude mcp add harness -- harness mcp --allow-run
    """  # noqa: D301 - the backspace keeps click from filling these lines
    if skill:
        click.echo(SKILL.read_text("utf-8"), nl=False)
        return
    offered = {name: tool for name, tool in TOOLS.items() if allow_run or not tool.starts}
    anyio.run(_serve, offered, timeout)


async def _serve(offered: Mapping[str, CommandTool], timeout_s: float) -> None:
    # Imported here: `harness mcp --skill` and the help need none of the SDK.
    from jsonschema import Draft202012Validator
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

    listed = [
        Tool(
            name=name,
            description=tool.description,
            input_schema=dict(tool.schema),
            annotations=ToolAnnotations(
                read_only_hint=not tool.starts,
                destructive_hint=False,
                open_world_hint=tool.starts,
            ),
        )
        for name, tool in offered.items()
    ]

    async def list_tools(_: Any, __: Any) -> ListToolsResult:
        return ListToolsResult(tools=listed)

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        given = params.arguments or {}
        tool = offered.get(params.name)
        if tool is None:
            failed, text = True, _explain_absence(params.name)
        elif wrong := [
            error.message for error in Draft202012Validator(tool.schema).iter_errors(given)
        ]:
            failed, text = True, f"Wrong arguments: {'; '.join(wrong)}"
        else:
            failed, text = await run_command(tool.build_arguments(given), timeout_s)
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

    server = Server(
        "harness",
        version=__version__,
        instructions=_read_instructions(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _read_instructions() -> str:
    """Return the skill without its head and its example, which hosts would cut off."""
    body = SKILL.read_text("utf-8").split("---\n", 2)[-1]
    return body.partition("\n## A case")[0].strip()


def _explain_absence(name: str) -> str:
    if name in TOOLS:
        return f"{name} starts processes: it is offered by 'harness mcp --allow-run' alone."
    return f"There is no tool {name!r}. Tools: {', '.join(TOOLS)}."


async def run_command(arguments: list[str], timeout_s: float) -> tuple[bool, str]:
    """Run ``harness ARGUMENTS`` and return whether it failed, and its output.

    Failed cases and trials that ended as errors are results: they do not make the call fail.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = await anyio.open_process(
            # -P: nothing is imported from the working directory. The prefix ends the command if
            # this process is killed.
            [*build_death_prefix(), sys.executable, "-P", "-m", "harness.cli", *arguments],
            stdin=subprocess.DEVNULL,  # ours carries MCP, and nobody can answer a question
            stdout=out,
            stderr=err,
            env={**os.environ, "NO_COLOR": "1"},
            start_new_session=True,
        )
        try:
            with anyio.move_on_after(timeout_s):
                await process.wait()
            in_time = process.returncode is not None
        finally:
            await _end(process)
        texts = [_read_beginning(file) for file in (out, err)]
    if not in_time:
        return True, f"Ended after {timeout_s:g} s (--timeout).\n{texts[1]}".rstrip()
    text = texts[0] or texts[1] or "It printed nothing."
    return process.returncode not in (EXIT_PASSED, EXIT_FAILED, EXIT_UNJUDGED), text


async def _end(process: Process) -> None:
    """End the command as Ctrl-C does, so that it ends its servers; kill it if it does not."""
    with anyio.CancelScope(shield=True), suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
            with anyio.move_on_after(END_S):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()


def _read_beginning(file: Any) -> str:
    file.seek(0)
    # A character has at most four bytes; one that is cut in the middle is left out.
    text: str = file.read(4 * MAX_ANSWER).decode("utf-8", "ignore")
    if len(text) <= MAX_ANSWER:
        return text
    rest = format_count(len(text) - MAX_ANSWER, "character")
    return f"{text[:MAX_ANSWER]}\n[cut: at least {rest} more; ask for less by limit or SQL]"
