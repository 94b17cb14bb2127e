"""Ends orphaned servers: this process outlives a harness that was killed.

Run as a plain script (``python -I -S guardian_script.py``), so that it starts in about ten
milliseconds; it imports no module of harness. Its stdin is a pipe from harness, with one line for
each event::

    +1234      process group 1234 was started
    -1234      process group 1234 was ended

When the pipe closes, because harness finished or died in any way, every group that is still listed
is killed.
"""

import _signal as signal  # type: ignore[import-not-found]  # `signal` starts 5 ms later
import os
import sys


def main() -> None:
    """Keep the list until the pipe closes, then kill the groups that are still on it."""
    # Harness handles Ctrl-C and a closed terminal; this process only ends after it.
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    groups = set()
    for line in sys.stdin.buffer:
        sign, group = line[:1], int(line[1:])
        if sign == b"+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        try:  # noqa: SIM105 - `contextlib` would be most of this script's start
            os.killpg(group, signal.SIGKILL)
        except OSError:
            pass


if __name__ == "__main__":
    main()
