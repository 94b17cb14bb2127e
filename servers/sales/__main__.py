"""``python -m servers.sales``: serve MCP on stdin and stdout until stdin ends, or on HTTP."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..common.start import serve_to_all
from .server import make_server

if __name__ == "__main__":
    sys.exit(serve_to_all("sales", "A wholesaler's sales, the same for everybody.", make_server))
