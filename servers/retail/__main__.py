"""``python -m servers.retail [--data FOLDER]``: serve MCP on stdin and stdout until stdin ends."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..tau2_common.start import serve
from .tools import RetailTools

if __name__ == "__main__":
    sys.exit(serve("retail", "A shop's orders, products and customers.", RetailTools))
