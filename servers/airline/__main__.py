"""``python -m servers.airline [--data FOLDER]``: serve MCP on stdin and stdout until stdin ends."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..tau2_common.start import serve
from .tools import AirlineTools

if __name__ == "__main__":
    sys.exit(serve("airline", "An airline's reservations, flights and customers.", AirlineTools))
