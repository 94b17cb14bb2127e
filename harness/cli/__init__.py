"""The command line: one command a file; each parses, calls and prints, and decides nothing.

Commands are imported when they are used, so that ``harness --help`` is instant.
"""

from __future__ import annotations

import gc
import os
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from harness.errors import HarnessError, NothingToRun
from harness.redaction.output import guarded_output
from harness.registry import members_in
from harness.safe_text import printable

_FOLDER = Path(__file__).with_name("commands")

COMMANDS = members_in(_FOLDER, "harness.cli.commands", "command")
"""Command → ``module:attribute`` of it: one file each, whose first line is its line in ``harness --help``."""

OTHER_WORDS = {
    "run": "evals",
    "test": "evals",
    "start": "evals",
    "web": "serve",
    "list": "runs",
    "check": "lint",
}
"""What other tools call a command → what it is called here."""

GARBAGE_THRESHOLD = 200_000
"""New objects after which Python looks for unreachable ones. At its own 700 it walks through all
that the SDKs define, again and again while they load, and finds nothing: a sixth of the time of a
short run."""

JSON_OUTPUT = "--json-output"
"""The option of every command that has a document to write: then there is one on stdout whatever
happens."""

EXIT_NOTHING = 2
EXIT_INVALID = 3
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name].split(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that ``args`` begin with; of an unknown one, say which was meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = OTHER_WORDS.get(args[0]) or next(
                iter(get_close_matches(args[0], COMMANDS, n=1)), None
            )
            near = f" Did you mean 'harness {meant}'?" if meant else ""
            ctx.fail(f"There is no command {args[0]!r}.{near}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_line(name)) for name in COMMANDS])


def _first_line(name: str) -> str:
    """Return the first line of a command's file, which says what it does."""
    with (_FOLDER / f"{name.replace('-', '_')}.py").open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="harness")
def cli() -> None:
    """Find out whether an LLM can use your MCP server, correctly and safely."""


def main() -> None:
    """Run the command line and exit; every error a user can cause is told in words."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    with guarded_output():
        _have_somebody_to_ask()
        try:
            code = _run()
            sys.stdout.flush()
        except OSError as error:
            code = _closed_output(error)
    gc.freeze()  # or Python would take the SDKs apart object by object, for a third of a second, before it exits
    sys.exit(code)


def _have_somebody_to_ask() -> None:
    """Ask on a terminal before a stranger's command is run; in CI and in a pipe nobody would answer."""
    if (
        sys.stdin is not None
        and sys.stdin.isatty()
        and sys.stderr.isatty()
        and not os.environ.get("CI")
    ):
        from harness.trust import GATE  # an instant command needs none of it

        GATE.ask = lambda text: click.confirm(
            f"{text}May they, now and from now on?", default=False, err=True
        )


def _run() -> int:
    try:
        return int(cli.main(standalone_mode=False, prog_name="harness") or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return _told_as_json("interrupted", EXIT_INTERRUPTED)
    except click.UsageError as error:
        error.show()
        return _told_as_json(error.format_message(), EXIT_INVALID)
    except NothingToRun as error:
        click.echo(f"Nothing to run: {printable(str(error))}", err=True)
        return _told_as_json(str(error), EXIT_NOTHING)
    except HarnessError as error:
        click.echo(f"Error: {printable(str(error))}", err=True)
        return _told_as_json(str(error), EXIT_INVALID)


def _told_as_json(message: str, code: int) -> int:
    """Write what prevents a result to stdout as well, where a JSON document is waited for; return ``code``."""
    if JSON_OUTPUT in sys.argv:
        from harness.reports.formats.json_report import (
            write_json_error,  # it loads what an instant command does not need
        )

        write_json_error(message, sys.stdout)
        sys.stdout.flush()
    return code


def _closed_output(error: OSError) -> int:
    """Tell of an output that went away or is full; anything else is a fault worth a traceback."""
    if error.filename is not None:
        raise error
    # Python flushes stdout once more at exit, which must not complain again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
    return EXIT_INVALID
