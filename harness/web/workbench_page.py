"""The page of a workbench, made from its logs in a process of its own.

A page needs the suite once more, and a suite in Python is code: it never runs in the server's own
process. ``python -m harness.web.workbench_page RUN FILE`` is the other side.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from harness.base import HarnessError, limit_text
from harness.descriptions import reread_result, write_page
from harness.judging import EXIT_INVALID
from harness.reports import write_atomically

READY_S = 120.0
"""Seconds that a page may take: a suite is read, and thousands of trials are."""
AT_ONCE = anyio.CapacityLimiter(2)
"""Pages that are made at the same time."""
_LONGEST = 2_000


class NoPage(HarnessError):
    """The page cannot be made; the message says why."""


async def build_page(run_id: str) -> bytes:
    """Return the page of a workbench, whose name is known to be one.

    Raises:
        NoPage: the suite is gone or cannot be read, or it took too long.
    """
    async with AT_ONCE:
        with TemporaryDirectory() as folder:
            # A page comes as a file: on stdout, what a suite prints would stand in its midst.
            path = Path(folder, "page.html")
            command = [sys.executable, "-P", "-m", "harness.web.workbench_page", run_id, str(path)]
            with anyio.move_on_after(READY_S) as scope:
                done = await anyio.run_process(
                    command, stdin=subprocess.DEVNULL, check=False, start_new_session=True
                )
            if scope.cancelled_caught:
                raise NoPage(f"it took longer than {READY_S:.0f} seconds")
            if done.returncode:
                said = done.stdout.decode("utf-8", "replace").strip()
                raise NoPage(limit_text(said, _LONGEST) or "its reader broke down")
            return await anyio.Path(path).read_bytes()


def main() -> None:
    """Write the page of the run that the first argument names into the file of the second."""
    run_id, path = sys.argv[1:]
    # A second handle on stdout, which the next line takes away from everybody else.
    said = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(2, 1)  # what a suite prints must not be mistaken for the reason
    try:
        result = reread_result(run_id, Path.cwd(), os.environ)
        write_atomically(Path(path), partial(write_page, result))
    except HarnessError as error:
        said.write(str(error))
        said.flush()
        sys.exit(EXIT_INVALID)


if __name__ == "__main__":
    main()
