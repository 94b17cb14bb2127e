"""The project's own suites: the page lists them and runs them as a terminal would.

They lie on the operator's disk, so they may start servers and bring code, which an upload may not.
That is why they are offered on loopback alone, and why a request names one of the listed files:
nothing else is opened.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.web.catalog import MOST, Catalog, RunFilter
from harness.web.evaluations import add_links
from harness.web.jobs import RunQueue
from harness.web.requests import run_while_awaited
from harness.web.settings import Settings
from harness.web.suite_files import list_files
from harness.web.uploads import read_own_suites

READY_S = 60.0
"""Seconds that reading all suites may take."""
_ELSEWHERE = "The project's own suites are run from a page on this machine only (127.0.0.1)."


class ProjectSuites:
    """The endpoints, over a board and the runs that are known."""

    def __init__(self, board: RunQueue, settings: Settings, catalog: Catalog) -> None:
        """Answer for the project in the working directory."""
        self._board = board
        self._settings = settings
        self._catalog = catalog
        self._turn = anyio.Lock()
        self._known: tuple[object, list[dict[str, Any]]] = (None, [])

    def routes(self) -> list[Route]:
        """Return them; they go before those of a run, which take any name."""
        return [
            Route("/evaluations/suites", self.list_suites, methods=["GET"]),
            Route("/evaluations/suites", self.begin_run, methods=["POST"]),
        ]

    async def list_suites(self, request: Request) -> Response:
        """Return the suites of the project, each with its last run."""
        if not self._settings.is_local:
            return JSONResponse({"offered": False, "why": _ELSEWHERE, "suites": []})
        suites = await self._read_suites()
        found = await run_while_awaited(
            request, self._board, lambda go_on: self._catalog.find(RunFilter(), MOST, go_on)
        )
        waiting = [job.as_json() for job in self._board.list_waiting()]
        last = _find_last_runs([*waiting, *found.entries])
        told = [{**suite, "last": last.get(suite["name"])} for suite in suites]
        return JSONResponse({"offered": True, "suites": told})

    async def begin_run(self, request: Request) -> Response:
        """Start a run of the suites that are named, and return at once."""
        if not self._settings.is_local:
            raise HTTPException(403, _ELSEWHERE)
        job = await self._board.submit(*await read_own_suites(request, self._settings))
        return JSONResponse(
            add_links(job.as_json()), 202, headers={"location": f"/evaluations/{job.id}"}
        )

    async def _read_suites(self) -> list[dict[str, Any]]:
        """Return what the list says of each suite; they are read again once a file has changed."""
        async with self._turn:
            state = await anyio.to_thread.run_sync(_stat_files, Path.cwd())
            if self._known[0] != state:
                self._known = state, await _describe_in_process()
            return self._known[1]


def _stat_files(cwd: Path) -> list[tuple[str, int, int]]:
    found = []
    for name, path in list_files(cwd).items():
        try:
            facts = path.stat()
        except OSError:  # a link to nothing, which its reader tells
            found.append((name, 0, 0))
        else:
            found.append((name, facts.st_mtime_ns, facts.st_size))
    return found


async def _describe_in_process() -> list[dict[str, Any]]:
    command = [sys.executable, "-P", "-m", "harness.web.suite_files"]
    with anyio.move_on_after(READY_S):
        done = await anyio.run_process(
            command, stdin=subprocess.DEVNULL, stderr=None, check=False, start_new_session=True
        )
        if done.returncode == 0:
            found: list[dict[str, Any]] = json.loads(done.stdout)
            return found
    raise HTTPException(
        422, "The project's suites cannot be read; see the terminal of 'harness serve'."
    )


def _find_last_runs(entries: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return suite → its newest run; ``entries`` begin with the newest."""
    last: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry.get("workbench"):  # it compares descriptions, and says nothing of the suite
            continue
        for suite in entry["suites"]:
            name = suite if isinstance(suite, str) else suite["name"]
            last.setdefault(name, _encode_last_run(entry, name))
    return last


def _encode_last_run(entry: Mapping[str, Any], suite: str) -> dict[str, Any]:
    rates = [one for one in entry.get("by_suite", ()) if one["suite"] == suite]
    errors = entry.get("counts", {}).get("error", 0) if len(entry["suites"]) == 1 else 0
    return {
        "id": entry["id"],
        "state": entry["state"],
        "started_at": entry.get("started_at"),
        "result": entry.get("result", ""),
        "rates": [{key: one[key] for key in ("entrant", "passed", "judged")} for one in rates],
        "failed": bool(errors) or any(one["passed"] < one["judged"] for one in rates),
    }
