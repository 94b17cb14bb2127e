"""Serve a web page that runs dropped suites and shows results and past runs."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace

import click

from harness.base import GATE, VARIABLE, UsageError
from harness.cli.options import TRUST, BoundedNumber, bundle_options, shown_option
from harness.suites import MAX_CASES
from harness.types import DEFAULT_TIMEOUT_S
from harness.version import DISTRIBUTION
from harness.web import Settings

TOKEN = "HARNESS_SERVE_TOKEN"  # noqa: S105 - the name of a variable
LEAST_TOKEN = 16
"""Minimum number of characters; a shorter token could be guessed."""


@click.command("serve")
@TRUST
@bundle_options(
    "settings",
    lambda max_mb, **values: Settings(max_bytes=int(max_mb * 1_000_000), **values),
    shown_option(
        "--port",
        type=click.IntRange(0, 65535),
        default=8000,
        help="Port to listen on; 0 chooses a free one.",
    ),
    shown_option(
        "--host",
        default="127.0.0.1",
        help=f"Address to listen on; unless it is loopback a token is needed: ${TOKEN}, or the "
        "printed one.",
    ),
    click.option(
        "--name",
        "names",
        multiple=True,
        metavar="HOST",
        help="A host name by which the page is reached from other machines; may be repeated.",
    ),
    shown_option(
        "--at-once", type=click.IntRange(1, 100), default=2, help="Runs at the same time."
    ),
    shown_option(
        "--queue",
        "queued",
        type=click.IntRange(0, 1000),
        default=20,
        help="Runs that may wait in the queue.",
    ),
    shown_option("--max-mb", type=BoundedNumber(0.001, 5), default=5.0, help="Largest upload."),
    shown_option(
        "--max-cases", type=click.IntRange(1), default=MAX_CASES, help="Most trials of a run."
    ),
    shown_option(
        "--case-timeout",
        "case_timeout_s",
        type=BoundedNumber(0.1),
        default=DEFAULT_TIMEOUT_S,
        metavar="SECONDS",
        help="Most time that one case may take.",
    ),
    shown_option(
        "--heartbeat",
        "heartbeat_s",
        type=BoundedNumber(0.1),
        default=15.0,
        metavar="SECONDS",
        help="Seconds between keep-alive comments on an idle event stream.",
    ),
)
def command(settings: Settings) -> None:
    """Serve the page at /evaluation: drop a suite, watch the results, open past runs.

    Runs are stored where the command line stores them. Each run is a process of its own.
    """
    try:
        from harness.web import serve  # the web server is an extra
    except ImportError as error:
        raise UsageError(
            f"the page needs more packages ({error.name} is missing)",
            meant=f'Install them: pip install "{DISTRIBUTION}[web]"',
        ) from error
    if GATE.trusting:
        os.environ[VARIABLE] = "1"  # inherited by the processes of its runs
    given = os.environ.get(TOKEN)
    if given and len(given) < LEAST_TOKEN:
        raise UsageError(
            f"${TOKEN} is too short", meant=f"Use at least {LEAST_TOKEN} random characters."
        )
    # On loopback none is needed.
    token = given or (None if settings.is_local else secrets.token_urlsafe(32))

    def print_address(address: str) -> None:
        # Whoever set a token knows it; a log that this output goes to should not.
        click.echo(address.partition("?")[0] if given else address)
        click.echo("Ctrl-C stops it and interrupts its runs.", err=True)

    serve(replace(settings, token=token), print_address)
