"""Pass MCP over stdio on to the recording proxy, for clients that only start processes."""

from __future__ import annotations

import os

import click

from harness.agents import URL_VARIABLE, forward_stdio
from harness.base import UsageError


@click.command("proxy-stdio")
@click.option("--url", metavar="URL", help=f"The proxy's address.  [default: ${URL_VARIABLE}]")
def command(url: str | None) -> None:
    """Pass MCP over stdin and stdout on to the proxy that harness record has opened.

    For clients that know servers only as commands: give them this one. It ends with its client, and
    with the proxy.

    \b
    harness record --server "python my_server.py" -- my-client --mcp-server "harness proxy-stdio"
    """  # noqa: D301 - the backspace keeps click from filling these lines
    address = url or os.environ.get(URL_VARIABLE, "")
    if not address:
        raise UsageError(
            "no proxy is named",
            meant=f"Start the client by harness record, which sets {URL_VARIABLE}, or give --url.",
        )
    try:
        forward_stdio(address)
    except ValueError as error:
        raise UsageError(str(error)) from error
