"""Start a server: on stdin and stdout until stdin ends, or on HTTP behind a token verifier."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from .errors import CannotStart
from .governed import GovernedServer

_HIGHEST_PORT = 65_535
_PORT_DIGITS = 5


def serve(
    name: str,
    description: str,
    policies: Path,
    make_server: Callable[[Path, Mapping[str, str]], GovernedServer],
) -> int:
    """Run the server ``servers.NAME`` with policies as its command line asks; return the exit code.

    0: stdin ended, or a signal came. 2: the policy file that was named cannot be used.
    """
    parser = _parser(name, description)
    parser.add_argument(
        "--policies", type=Path, default=policies, metavar="PATH", help="another policy file"
    )
    options = parser.parse_args()
    try:
        server = make_server(options.policies, os.environ)
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return _run(server, parser, options)


def serve_to_all(name: str, description: str, make_server: Callable[[], GovernedServer]) -> int:
    """Run the server ``servers.NAME``, which has no policies, as its command line asks.

    Return the exit code.
    """
    parser = _parser(name, description)
    return _run(make_server(), parser, parser.parse_args())


def serve_with(
    name: str,
    description: str,
    add_options: Callable[[argparse.ArgumentParser], None],
    make_server: Callable[[argparse.Namespace], GovernedServer],
) -> int:
    """Run the server ``servers.NAME``, which takes options of its own, as its command line asks.

    Return the exit code.

    0: stdin ended, or a signal came. 2: what was asked for cannot be done; `make_server` says why
    by a `CannotStart`.
    """
    parser = _parser(name, description)
    add_options(parser)
    options = parser.parse_args()
    try:
        server = make_server(options)
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return _run(server, parser, options)


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"servers.{name}", description=description)
    parser.add_argument("--transport", choices=("stdio", "http", "sse"), default="stdio")
    http = parser.add_argument_group("over HTTP", "Streamable HTTP is served at /mcp, SSE at /sse.")
    http.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    http.add_argument("--port", type=_port, help="where to listen")
    http.add_argument(
        "--issuer", metavar="URL", help="whose tokens count (default: $HARNESS_ISSUER)"
    )
    http.add_argument(
        "--jwks-url", metavar="URL", help="where its keys are (default: $HARNESS_JWKS_URL)"
    )
    http.add_argument(
        "--audience",
        metavar="URL",
        help="whom tokens are meant for (default: $HARNESS_AUDIENCE, else this server)",
    )
    http.add_argument(
        "--allow-anonymous",
        action="store_true",
        help="serve who shows no token as nobody, with the least privilege",
    )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > _PORT_DIGITS or int(text) > _HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to {_HIGHEST_PORT}")
    return int(text)


def _run(
    server: GovernedServer, parser: argparse.ArgumentParser, options: argparse.Namespace
) -> int:
    if options.transport == "stdio":
        if options.port is not None or options.allow_anonymous:
            parser.error("--port and --allow-anonymous need --transport http or sse")
        server.run("stdio")
        # the process ends: Python need not take everything apart first, while a client waits
        gc.freeze()
        return 0
    if options.port is None:
        parser.error(f"--transport {options.transport} needs --port")
    from .http import serve_http, trust_of

    try:
        trust = trust_of(options)
    except CannotStart as error:
        parser.error(str(error))
    if trust is None and not options.allow_anonymous:
        parser.error(
            "over HTTP it takes --issuer and --jwks-url to tell who asks, or --allow-anonymous to "
            "serve nobody"
        )
    serve_http(server, trust, options)
    return 0
