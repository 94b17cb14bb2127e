"""``python -m servers.telecom [--data FOLDER]``: serve MCP on stdin and stdout until stdin ends."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

import sys

from ..tau2_common.start import serve
from .files import read_telecom
from .tools import BothSides

if __name__ == "__main__":
    title = "A phone company, and the phone of its customer."
    sys.exit(serve("telecom", title, BothSides, read_telecom))
