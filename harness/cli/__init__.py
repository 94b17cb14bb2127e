"""The command line, one file for each command. A command parses, calls and prints.

A command is imported when it is used, so that ``harness --help`` is instant.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from harness.base import (
    ABOUT_COMMAND,
    REFUSAL,
    HarnessError,
    NothingToRun,
    find_members,
    is_supported,
    locate_page,
)
from harness.judging import EXIT_INTERRUPTED, EXIT_INVALID, EXIT_NOTHING
from harness.version import __version__

_FOLDERS = [Path(__file__).with_name(name) for name in ("commands", "programs")]

COMMANDS = {
    name: module
    for folder in _FOLDERS
    for name, module in find_members(folder, f"harness.cli.{folder.name}", "command").items()
}
"""Command → its ``module:attribute``. The module's first line is its line in ``harness --help``."""

OTHER_WORDS = {
    "run": "evals",
    "test": "evals",
    "start": "evals",
    "web": "serve",
    "list": "runs",
    "check": "lint",
}
"""Names of commands in other tools → the command's name here."""

GARBAGE_THRESHOLD = 200_000
"""New objects after which Python's garbage collector runs.

At the default of 700 it walks through all objects of the SDKs again and again while they load, and
finds nothing: a sixth of the time of a short run."""

JSON_OUTPUT = "--json-output"
"""The option of every command with a JSON document: stdout then has exactly one, also on errors."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        if cmd_name in ABOUT_COMMAND:
            command.epilog = f"Read on: {locate_page(ABOUT_COMMAND[cmd_name])}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; suggest the nearest for a typo."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # imported here: only a mistake needs it

            meant = OTHER_WORDS.get(args[0]) or next(
                iter(get_close_matches(args[0], COMMANDS, n=1)), None
            )
            near = f" Did you mean 'harness {meant}'?" if meant else ""
            ctx.fail(f"There is no command {args[0]!r}.{near}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them: each file says what it does."""
        rows = []
        for name in sorted(COMMANDS):
            *_, folder, file_name = COMMANDS[name].partition(":")[0].split(".")
            path = Path(__file__).with_name(folder) / f"{file_name}.py"
            with path.open(encoding="utf-8") as file:
                rows.append((name, file.readline().strip().strip('"')))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        f"A tutorial of 30 minutes: {locate_page('tutorial/index')}. A message explained: "
        f"{locate_page('troubleshooting')}."
    ),
)
@click.version_option(__version__)
def cli() -> None:
    """Find out whether an LLM can use your MCP server, correctly and safely."""


def main() -> None:
    """Run the command line and exit; a user's mistake is a message, never a traceback."""
    if not is_supported():
        _refuse_platform()
    gc.set_threshold(GARBAGE_THRESHOLD)
    with _guard_command():
        try:
            code = _run_command()
            # Here a closed pipe is still a message; at exit it would be a traceback.
            sys.stdout.flush()
        except OSError as error:
            code = _report_closed_output(error)
    # otherwise Python frees the SDKs' objects one by one at exit, which takes a third of a second
    if "duckdb" not in sys.modules:  # which takes what is frozen for leaked, and says so on stderr
        gc.freeze()
    sys.exit(code)


def _refuse_platform() -> NoReturn:
    """Say that harness does not run here, by means that work everywhere."""
    click.echo(f"Error: {REFUSAL}", err=True)
    if JSON_OUTPUT in sys.argv:
        click.echo(json.dumps({"status": "error", "error": REFUSAL}))
    sys.exit(EXIT_INVALID)


def _guard_command() -> AbstractContextManager[None]:
    """Return what redacts all output of the command, and let it ask whether a folder is trusted.

    ``harness --help`` and ``--version`` write nothing but our own words, so they wait for neither.
    """
    if set(sys.argv[1:]) <= {"-h", "--help", "--version"}:
        return nullcontext()
    from harness.base import guarded_output

    _enable_trust_prompt()
    return guarded_output()


def _enable_trust_prompt() -> None:
    """On a terminal, ask the user before a foreign folder's command runs; never in CI or a pipe."""
    if (
        sys.stdin is not None
        and sys.stdin.isatty()
        and sys.stderr.isatty()
        and not os.environ.get("CI")
    ):
        from harness.base import GATE  # imported here: commands such as --help do not need it

        GATE.ask = lambda text: click.confirm(
            f"{text}May they, now and from now on?", default=False, err=True
        )


_ELSEWHERE = {
    "--profile": "A profile is the server's: write it into its command in harness.yml, such as "
    "args: [serve, --profile, dev]; docs/migrate.md tells more of MXCP's servers."
}
"""Options of other programs that people type here → what to do instead."""


def _run_command() -> int:
    try:
        # By itself, click would print an error and exit, and the JSON document would be missing.
        return int(cli.main(standalone_mode=False, prog_name="harness") or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return _report_json_error("interrupted", EXIT_INTERRUPTED)
    except click.UsageError as error:
        if isinstance(error, click.NoSuchOption) and error.option_name in _ELSEWHERE:
            # In place of an option that is only spelled alike.
            error = click.UsageError(
                f"{error.message}\n  {_ELSEWHERE[error.option_name]}", ctx=error.ctx
            )
        error.show()
        return _report_json_error(error.format_message(), EXIT_INVALID)
    except HarnessError as error:
        from harness.base import make_printable  # imported here: --help needs none of it

        nothing = isinstance(error, NothingToRun)
        title = "Nothing to run" if nothing else "Error"
        click.echo(f"{title}: {make_printable(str(error))}", err=True)
        return _report_json_error(str(error), EXIT_NOTHING if nothing else EXIT_INVALID)


def _report_json_error(message: str, code: int) -> int:
    """Also write an error to stdout as JSON if ``--json-output`` was given; return ``code``."""
    # Not asked of click: the error may be that it could not read the options.
    if JSON_OUTPUT in sys.argv:
        from harness.reports import write_json_error  # imported here: --help needs none of it

        write_json_error(message, sys.stdout)
        sys.stdout.flush()
    return code


def _report_closed_output(error: OSError) -> int:
    """Report an output that was closed or is full; any other error is a bug with a traceback."""
    # Only a file that was opened by its name has one; stdout has none.
    if error.filename is not None:
        raise error
    # Python flushes stdout once more at exit, which must not fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
    return EXIT_INVALID
