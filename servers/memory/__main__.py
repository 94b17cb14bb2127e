"""``python -m servers.memory``: serve MCP on stdin and stdout until stdin ends, or on HTTP."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..common.start import serve_with
from .server import add_options, make_server

if __name__ == "__main__":
    sys.exit(
        serve_with("memory", "A memory for models, one for each user.", add_options, make_server)
    )
