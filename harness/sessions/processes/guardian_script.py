"""Ends orphaned servers: the one process that outlives a harness which was killed.

Run as a plain script (``python -I -S guardian_script.py``), so that it starts in about ten
milliseconds; it imports nothing of ours. Its stdin is a pipe from the harness, one line a server::

    +1234      process group 1234 was started
    -1234      process group 1234 was ended

When the pipe closes, because the harness finished or because it died in whatever way, every group
that is still listed is killed.
"""

import os
import signal
import sys


def main() -> None:
    """Keep the list until the pipe closes, then kill what is still on it."""
    # A Ctrl-C or a closed terminal is for the harness to handle; this process only follows it.
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
