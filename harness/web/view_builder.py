"""A large log, read in a process of its own for its first view, so that the page answers meanwhile.

``python -m harness.web.view_builder LOG`` is the other side: it keeps the view beside the log, says
how many bytes it has read, a number a line, and ends when its stdin does.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread

from harness.base import HarnessError
from harness.reports import URGENCY, part_name, shorten_line
from harness.runlog import TrialLine, read_header, read_lines
from harness.sessions import wait_closed
from harness.web.results import trial_cell
from harness.web.run_view import RunView, ensure_view, find_view

MOST_S = 900.0
"""Seconds that reading may take: a log of 8 GB."""
FIRST = 200
"""Trials that are shown while the others are read."""
FIRST_BYTES = 4_000_000
"""Bytes after which no further one is among them."""
GARBAGE_THRESHOLD = 1_000_000
"""New objects after which the garbage collector runs: nearly all of them are kept to the end."""
_ABANDONED = 1
"""How the process ends that nobody waits for any more; not seen by anyone."""
_STEP = 1_000_000


class ViewBuilder:
    """The large logs that are being read, one at a time: several would take all memory."""

    def __init__(self) -> None:
        """Begin with none."""
        self._turn = anyio.Lock()
        self._read_to: dict[Path, int] = {}

    def get_progress(self, log: Path) -> int:
        """Return how many bytes of ``log`` have been read by now."""
        return self._read_to.get(log, 0)

    async def build_view(self, log: Path) -> RunView:
        """Return the view of ``log``, which is made first unless somebody has done so.

        Raises:
            HarnessError: the log cannot be read, or not in time.
            OSError: it is gone.
        """
        async with self._turn:
            if await anyio.to_thread.run_sync(find_view, log) is None:
                try:
                    await self._read_log(log)
                finally:
                    self._read_to.pop(log, None)
        # Nothing is read again for this, unless the process could not keep it or is broken.
        return await anyio.to_thread.run_sync(ensure_view, log)

    async def _read_log(self, log: Path) -> None:
        command = [sys.executable, "-P", "-m", "harness.web.view_builder", str(log)]
        process = await anyio.open_process(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # What goes wrong is found out once more by `ensure_view` below, and told as an error.
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            with anyio.fail_after(MOST_S):
                await self._follow_progress(process, log)
                await process.wait()
        except TimeoutError as error:
            minutes = f"{MOST_S / 60:.0f} minutes"
            raise HarnessError(f"the run log {log} could not be read in {minutes}") from error
        finally:
            # Also if the request was cancelled: nobody would read its progress any more.
            if process.returncode is None:
                process.kill()
            with anyio.CancelScope(shield=True):
                await process.aclose()
                await wait_closed(process.stdin)

    async def _follow_progress(self, process: anyio.abc.Process, log: Path) -> None:
        assert process.stdout is not None
        rest = b""
        async for chunk in process.stdout:
            # A chunk may end within a number.
            *lines, rest = (rest + chunk).split(b"\n")
            if lines:
                self._read_to[log] = int(lines[-1])


def build_first_grid(log: Path) -> dict[str, Any]:
    """Return a grid of the first trials of ``log``; its columns have no rates yet."""
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    urgency = [*URGENCY, "waiting"]
    for at, end, line in read_lines(log):
        if isinstance(line, TrialLine):
            cell = trial_cell(line) | {"at": [at]}
            if "group" in cell:
                cell |= {"status": "waiting", "problem": "waiting for the other identities"}
            place = cell["suite"], cell["case"], cell["entrant"]
            known = cells.get(place, cell)
            # Of several trials the most urgent is shown: a failure is not hidden by a later pass.
            cells[place] = min(cell, known, key=lambda one: urgency.index(one["status"]))
        if len(cells) >= FIRST or end >= FIRST_BYTES:
            break
    columns = [
        {"key": [part_name(model)], "title": shorten_line(model), "words": "", "rates": []}
        for model in read_header(log).entrants
    ]
    axis = {"name": "model", "column": ["entrant"], "row": ["suite", "case"], "columns": columns}
    return {"urgency": urgency, "axes": [axis], "cells": [*cells.values()]}


def main() -> None:
    """Keep the view of the log that is named, and say how far it is read."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    threading.Thread(target=_exit_with_page, daemon=True).start()
    told = 0

    def report_progress(read_to: int) -> None:
        nonlocal told
        # Not for each line: the page need not hear of it more often than it can show.
        if read_to >= told + _STEP:
            told = read_to
            os.write(1, b"%d\n" % read_to)

    ensure_view(Path(sys.argv[1]), report_progress)


def _exit_with_page() -> None:
    while os.read(0, 4096):
        pass
    os._exit(_ABANDONED)  # in the midst of reading; what is kept is put in its place whole


if __name__ == "__main__":
    main()
