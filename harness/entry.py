"""Entry point of the command ``harness``: Ctrl-C ends it with one line from the start on.

Loading the command line takes a while, and Python answers an interrupt meanwhile with a traceback.
So whoever imports this module, which is the installed command alone, has its own answer first.
`harness.cli` takes over once it can tell of an interrupt itself.
"""

import os
import signal
import sys

from harness.judging import EXIT_INTERRUPTED


def _handle_interrupt(*_: object) -> None:
    """Say "Interrupted." and exit; child processes end once our end of their pipe is closed."""
    if "--json-output" in sys.argv:
        os.write(1, b'{"status": "error", "error": "interrupted"}\n')
    os.write(2, b"Interrupted.\n")
    os._exit(EXIT_INTERRUPTED)


_OURS = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell may have it ignored
if _OURS:
    signal.signal(signal.SIGINT, _handle_interrupt)


def main() -> None:
    """Run the command line and exit."""
    from harness.cli import main as command_line  # slow: see above

    try:
        if _OURS:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command_line()
    except KeyboardInterrupt:
        _handle_interrupt()
    finally:
        if _OURS:  # the results are told, and the exit code stands
            signal.signal(signal.SIGINT, signal.SIG_IGN)
