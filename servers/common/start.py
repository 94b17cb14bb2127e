"""How every server with policies starts: on stdin and stdout, until stdin ends."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from .governed import GovernedServer
from .policy_file import PolicyError


def serve(
    name: str, description: str, policies: Path, make_server: Callable[[Path, Mapping[str, str]], GovernedServer]
) -> int:
    """Run the server ``servers.NAME`` as its command line asks; return the exit code.

    0: stdin ended. 2: the policy file that was named cannot be used.
    """
    parser = argparse.ArgumentParser(prog=f"servers.{name}", description=description)
    parser.add_argument("--policies", type=Path, default=policies, metavar="PATH", help="another policy file")
    options = parser.parse_args()
    try:
        server = make_server(options.policies, os.environ)
    except PolicyError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    server.run("stdio")
    gc.freeze()  # the process ends: Python need not take everything apart first, while a client waits
    return 0
