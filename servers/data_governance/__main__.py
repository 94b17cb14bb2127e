"""``python -m servers.data_governance``: serve MCP on stdin and stdout, or on HTTP.

On stdin and stdout it serves until stdin ends.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..common.start import serve
from .server import POLICIES, make_server

if __name__ == "__main__":
    sys.exit(
        serve("data_governance", "A customer database behind policies.", POLICIES, make_server)
    )
