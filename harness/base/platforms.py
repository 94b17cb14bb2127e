"""Where harness runs: on Linux and macOS, whose file locks and process groups it is built on."""

import sys

REFUSAL = (
    "harness does not run on Windows: it is built on the file locks and process groups of Linux "
    "and macOS. Run it in the Windows Subsystem for Linux (WSL), in a container, or in CI on Linux."
)


def is_supported() -> bool:
    """Whether harness runs here; where it does not, `REFUSAL` says so."""
    return sys.platform != "win32"
