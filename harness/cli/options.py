"""Options that several commands share, and a way to pass a group of options as one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from harness.base import GATE, KNOWN, locate_page
from harness.runlog import run_ids
from harness.runner import RunOption, option_named

_SUITES = (".yml", ".yaml", ".csv", ".jsonl")

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def complete_suites(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the suites of ``evals/`` by their file names; the shell completes paths."""
    folder = Path("evals")
    names = (
        (path.stem for path in folder.iterdir() if path.suffix in _SUITES)
        if folder.is_dir()
        else ()
    )
    return _complete_names(sorted(set(names)), begun)


def complete_runs(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the runs of this folder, the newest first; the shell completes paths."""
    return _complete_names(("latest", *reversed(run_ids())), begun)


def complete_files(
    _context: click.Context, _parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Let the shell complete file names."""
    return _complete_names((), begun)


def _complete_names(names: Iterable[str], begun: str) -> list[CompletionItem]:
    """Return the ``names`` with this beginning; if there are none, let the shell complete files."""
    return [CompletionItem(name) for name in names if name.startswith(begun)] or [
        CompletionItem(begun, type="file")
    ]


F = TypeVar("F", bound=Callable[..., Any])


def bundle_options(
    name: str, make: Callable[..., Any], *options: Callable[[Any], Any]
) -> Callable[[F], F]:
    """Add ``options`` to a command, which gets ``make(…)`` of their values as ``name``."""

    def decorate(function: F) -> F:
        @wraps(function)
        def wrapper(**values: Any) -> Any:
            made = make(**{key: values.pop(key) for key in mine})
            return function(**{name: made}, **values)

        # `wraps` has given it the options of the function, which are not part of this bundle.
        before = set(_parameters(wrapper))
        # A command lists its options from the last decorator to the first.
        for option in reversed(options):
            option(wrapper)
        mine = set(_parameters(wrapper)) - before
        return wrapper  # type: ignore[return-value]  # click reads its options off the function

    return decorate


def _parameters(function: Callable[..., Any]) -> list[str]:
    """Return the parameter names that click uses for these options."""
    return [
        parameter.name
        for parameter in getattr(function, "__click_params__", ())
        if parameter.expose_value
    ]


class OptionValue(click.ParamType[Any]):
    """Reads an option of the table, and refuses what it does not take."""

    def __init__(self, option: RunOption) -> None:
        """Read ``option``."""
        self.name = option.key
        self._option = option

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; of an option that is repeated, one of the values."""
        read = self._option.read_one("command line", value)
        # The attributes of a caller may be secrets, which no output shows from now on.
        if isinstance(read, Mapping):
            KNOWN.add_specs(identities=[read])
        return read


def as_click_option(option: RunOption) -> Callable[[F], F]:
    """Return the option of the table as one of click's."""
    names = [option.spelled_at("command line"), *filter(None, [option.short]), option.key]
    told = option.help_at("command line")
    if option.metavar is None:
        return click.option(*names, is_flag=True, help=told)
    return click.option(
        *names,
        type=OptionValue(option),
        multiple=option.repeated,
        metavar=option.metavar,
        help=told,
        shell_complete=complete_files if option.metavar == "FILE" else None,
    )


class BoundedNumber(click.FloatRange):
    """A number within bounds; unlike click's own type, it refuses ``nan`` and ``inf``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def _set_trust(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Pass the option to the trust gate before the command begins."""
    GATE.trusting = value


shown_option = partial(click.option, show_default=True)
"""An option whose help ends with its default."""

TRUST = click.option(
    "--trust",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_set_trust,
    help=f"Allow the commands of a folder that is not your own; remembered, see "
    f"{locate_page('trust')}.",
)
"""The option of every command that starts processes or sends data that a project file names."""

MCP_CONFIG = as_click_option(option_named("mcp_config"))
"""For every command that starts a server."""

PROTOCOL = as_click_option(option_named("protocol"))
"""For every command that starts a server."""

START_TIMEOUT = as_click_option(option_named("start_timeout"))
"""For every command that starts a server."""


def server_option(help_text: str) -> Callable[[F], F]:
    """Return the ``--server`` option of commands that look at servers; it may be repeated."""
    return click.option(
        "--server", "command_lines", multiple=True, metavar="COMMAND|URL|NAME", help=help_text
    )


def caller_option(help_text: str) -> Callable[[F], F]:
    """Return the ``--user-context`` option: the attributes of the caller."""
    return as_click_option(replace(option_named("user_context"), help=help_text))


def json_object(usage: str, help_text: str) -> Callable[[F], F]:
    """Return an option that is a JSON object, or ``@file`` with one."""
    caller_option = option_named("user_context")
    return as_click_option(replace(caller_option, usage=usage, help=help_text, short=None))
