"""Options that several commands share, and a way to pass a group of options as one value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from harness.base import GATE, KNOWN, locate_page
from harness.cli import shell_completion as completing
from harness.runner import TRIALS_RANGE, Range
from harness.types import JsonObject, Protocol

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

        before = set(_parameters(wrapper))
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


def json_object(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> JsonObject | None:
    """Read an option that is a JSON object, or ``@file`` with one."""
    if value is None:
        return None
    try:
        read = json.loads(Path(value[1:]).read_text("utf-8") if value.startswith("@") else value)
    except OSError as error:
        raise click.BadParameter(
            f"{value[1:]} cannot be read: {error.strerror}. Give @file with a JSON object."
        ) from error
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(
            f"this is not JSON: {error}. Give a JSON object, or @file with one."
        ) from error
    if not isinstance(read, dict):
        raise click.BadParameter('give a JSON object such as \'{"role": "admin"}\'')
    KNOWN.add_specs(identities=[read])
    return read


class BoundedNumber(click.FloatRange):
    """A number within bounds; unlike click's own type, it refuses ``nan`` and ``inf``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def bounded_number(bound: Range) -> click.ParamType[Any]:
    """Return the type of an option whose value is within ``bound``."""
    if not bound.whole:
        return BoundedNumber(min=bound.least, max=bound.most)
    return click.IntRange(min=bound.least, max=bound.most)


def convert_milliseconds(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    """Convert milliseconds to seconds, the unit of all durations in the code."""
    return None if value is None else value / 1000


def trial_range(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[int | None, int | None]:
    """Read ``N`` or ``MIN..MAX``: the least trials (``None`` if all are run) and the most."""
    if value is None:
        return None, None
    match = re.fullmatch(r"(?:(\d{1,4})\.\.)?(\d{1,4})", value)
    least, most = (int(match[1]) if match[1] else None, int(match[2])) if match else (None, 0)
    lowest = most if least is None else least
    if not TRIALS_RANGE.least <= lowest <= most <= (TRIALS_RANGE.most or most):
        raise click.BadParameter(
            f"{value!r} is neither a number from 1 to {TRIALS_RANGE.most} nor a range such as "
            "3..10."
        )
    return least, most


def _set_trust(_context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Pass the option to the trust gate before the command begins."""
    GATE.trusting = value


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

MCP_CONFIG = click.option(
    "--mcp-config",
    shell_complete=completing.complete_files,
    metavar="FILE",
    help="Take servers from the configuration of an MCP client: .mcp.json, Claude Desktop, VS "
    "Code.",
)
"""For every command that starts a server."""


PROTOCOL = click.option(
    "--protocol",
    type=click.Choice(get_args(Protocol)),
    help="Revision of MCP to speak with every server, in place of what its entry says; legacy is "
    "the older handshake.",
)
"""For every command that starts a server."""


def server_option(help_text: str) -> Callable[[F], F]:
    """Return the ``--server`` option of commands that look at servers; it may be repeated."""
    return click.option(
        "--server", "command_lines", multiple=True, metavar="COMMAND|URL|NAME", help=help_text
    )


def caller_option(help_text: str) -> Callable[[F], F]:
    """Return the ``--user-context`` option: the attributes of the caller."""
    return click.option(
        "--user-context", "-u", callback=json_object, metavar="JSON|@FILE", help=help_text
    )
