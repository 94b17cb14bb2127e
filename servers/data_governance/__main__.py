"""``python -m servers.data_governance``: serve MCP on stdin and stdout until stdin ends."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..common.policy_file import PolicyError
from .server import POLICIES, make_server


def main() -> int:
    """Run the server; return the exit code: 0 after stdin ended, 2 when it could not be started as asked."""
    parser = argparse.ArgumentParser(prog="servers.data_governance", description="A customer database behind policies.")
    parser.add_argument("--policies", type=Path, default=POLICIES, metavar="PATH", help="another policy file")
    options = parser.parse_args()
    try:
        server = make_server(options.policies, os.environ)
    except PolicyError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    server.run("stdio")
    return 0


if __name__ == "__main__":
    sys.exit(main())
