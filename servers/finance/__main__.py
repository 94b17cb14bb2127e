"""``python -m servers.finance``: serve MCP on stdin and stdout until stdin ends, or on HTTP."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..common.start import serve_to_all
from .server import make_server

if __name__ == "__main__":
    sys.exit(
        serve_to_all("finance", "Share prices and ratios, the same for everybody.", make_server)
    )
