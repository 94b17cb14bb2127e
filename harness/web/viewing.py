"""What the viewer asks of a run: its grid, single trials, and where words are.

`harness.reports.viewer` makes what is answered, as for the HTML report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.reports.formats.html_report.detail import trial_detail
from harness.reports.viewer.several_runs import joined
from harness.reports.viewer.text_search import find_words
from harness.runlog import TrialLine, being_written, read_header, read_lines
from harness.web.catalog import MOST_BYTES
from harness.web.history import find_run
from harness.web.jobs import Board
from harness.web.reading import Readings, beginning
from harness.web.requests.awaited import while_awaited
from harness.web.results import run_facts
from harness.web.run_view import kept_view, run_view, settled_at, view_size
from harness.web.settings import Settings

MOST_RUNS = 20
"""Runs that are shown side by side at most."""
MOST_AT_ONCE = 10_000_000
"""Bytes of a view from which on a browser takes seconds for it, and shows the first tests before.
"""
_MOST_WORDS = 20
_LONGEST_WORD = 200


class Viewing:
    """The endpoints of the viewer."""

    def __init__(self, board: Board, settings: Settings) -> None:
        """Show the runs of ``settings``, those of ``board`` under the names that they came with."""
        self._board = board
        self._runs = settings.runs
        self._readings = Readings()

    def routes(self) -> list[Route]:
        """Return them."""
        return [
            Route("/evaluations/{id}/grid", self.grid, methods=["GET"]),
            Route("/evaluations/{id}/grid/with", self.several, methods=["GET"]),
            Route("/evaluations/{id}/trials/{at}", self.trial, methods=["GET"]),
            Route("/evaluations/{id}/live", self.live, methods=["GET"]),
            Route("/evaluations/{id}/search", self.search, methods=["GET"]),
        ]

    async def grid(self, request: Request) -> Response:
        """Return the run as a whole, or no grid while it goes on.

        There is none, either, while that would take long, for a large log of which ``to_read``
        bytes are still to be read or sent: ``?whole=1`` waits for it, ``read`` is how far reading
        is, and ``?beginning=1`` asks for the first trials meanwhile.
        """
        asked = request.query_params
        job = self._board.get(request.path_params["id"])
        if job is not None and not job.over.is_set():
            return JSONResponse({"grid": None, "to_read": 0})
        log = self._log(request)
        wait = await anyio.to_thread.run_sync(_wait, log)
        if wait.going_on or (wait.size and asked.get("whole") != "1"):
            read = wait.size if wait.kept else self._readings.read_to(log)
            told: dict[str, Any] = {"grid": None, "to_read": wait.size, "read": read}
            if wait.size and asked.get("beginning") == "1":
                told["beginning"] = await anyio.to_thread.run_sync(beginning, log)
            return JSONResponse(told)
        body = await anyio.to_thread.run_sync(kept_view, log, log.stat()) if wait.kept else None
        if body is None and wait.size:
            body = await self._readings.view(log)
        elif body is None:
            body = await anyio.to_thread.run_sync(run_view, log)
        facts = job.as_json() if job else run_facts(read_header(log), log) | {"state": "finished"}
        return Response(
            b'{"run": ' + json.dumps(facts).encode() + b", " + body[1:],
            media_type="application/json",
        )

    async def several(self, request: Request) -> Response:
        """Return the grid of this run and of each ``run=``: a column for each run and model."""
        names = [request.path_params["id"], *request.query_params.getlist("run")]
        names = list(dict.fromkeys(names))
        if len(names) > MOST_RUNS:
            raise HTTPException(400, f"At most {MOST_RUNS} runs are shown side by side.")
        logs = [self._named(name) for name in names]
        for log in logs:
            await self._read(log)
        return Response(
            await anyio.to_thread.run_sync(_several, logs), media_type="application/json"
        )

    async def trial(self, request: Request) -> Response:
        """Return everything there is to see of the trial whose line begins at ``at``."""
        at = request.path_params["at"]
        if not (at.isascii() and at.isdecimal() and len(at) < len("1000000000000000")):
            raise HTTPException(404, "There is no such trial.")
        log = self._log(request)
        line = await anyio.to_thread.run_sync(_line_at, log, int(at))
        if line is None:
            raise HTTPException(404, "There is no such trial.")
        result = line.run
        if result.case.group is not None:  # what other identities saw may have decided on it
            await self._read(log)
            settled = await anyio.to_thread.run_sync(settled_at, log, int(at))
            result = settled or result
        detail = await anyio.to_thread.run_sync(trial_detail, result, line.transcript)
        return JSONResponse({**detail, "key": result.key})

    async def live(self, request: Request) -> Response:
        """Return the steps so far of a trial under way that was started on this page."""
        given = request.query_params
        trial = given.get("trial", "1")
        if not (trial.isascii() and trial.isdecimal() and len(trial) < len("1000000")):
            raise HTTPException(400, "'trial' takes a number from 1 on.")
        name = (given.get("suite", ""), given.get("case", ""), given.get("model", ""), int(trial))
        job = self._board.get(request.path_params["id"])
        return JSONResponse(
            {"steps": job.talks.steps(name) if job else [], "ours": job is not None}
        )

    async def search(self, request: Request) -> Response:
        """Return where in the log each word is: ``{"words": {word: [at, …]}}``."""
        words = list(dict.fromkeys(word.lower() for word in request.query_params.getlist("word")))
        if not words or len(words) > _MOST_WORDS or any(len(one) > _LONGEST_WORD for one in words):
            raise HTTPException(
                400, f"'word' is given 1 to {_MOST_WORDS} times, with {_LONGEST_WORD} characters."
            )
        log = self._log(request)
        found = await while_awaited(
            request, self._board, lambda go_on: find_words(log, words, go_on)
        )
        return JSONResponse({"words": found})

    async def _read(self, log: Path) -> None:
        """Have the view of ``log`` made, if it is a large one that nobody has opened yet."""
        wait = await anyio.to_thread.run_sync(_wait, log)
        if wait.size and not wait.kept:
            await self._readings.view(log)

    def _log(self, request: Request) -> Path:
        return self._named(request.path_params["id"])

    def _named(self, run_id: str) -> Path:
        path = find_run(run_id, self._runs)
        if path is None:
            raise HTTPException(404, "There is no such run, or it has no log.")
        return path


@dataclass(frozen=True, slots=True)
class _Wait:
    """What there is to wait for before a run is shown as a whole."""

    going_on: bool = False
    """Whether there is no view of it yet, since it goes on."""
    kept: bool = False
    """Whether its view is kept, so that it is only sent."""
    size: int = 0
    """Bytes of a large log that is to be read, or of a large view; 0: it comes at once."""


def _wait(log: Path) -> _Wait:
    """Look at the files of a run: neither its log nor its view is read for this."""
    if being_written(log):
        return _Wait(going_on=True)
    facts = log.stat()
    kept = view_size(log, facts)
    if kept is None:
        return _Wait(size=facts.st_size if facts.st_size > MOST_BYTES else 0)
    return _Wait(kept=True, size=kept if kept > MOST_AT_ONCE else 0)


def _several(logs: Sequence[Path]) -> bytes:
    """Return the grid of runs, the oldest first."""
    told = []
    for log in sorted(logs, key=lambda path: path.parent.name):
        when = read_header(log).started_at[:16].replace("T", " ")
        told.append((log.parent.name, when, json.loads(run_view(log))["grid"]))
    return json.dumps({"grid": joined(told)}).encode()


def _line_at(log: Path, at: int) -> TrialLine | None:
    """Return the trial whose line begins at ``at``: a place in the middle of a line is none."""
    with log.open("rb") as file:
        file.seek(max(0, at - 1), os.SEEK_SET)
        if at == 0 or file.read(1) != b"\n":
            return None
    for _, _, line in read_lines(log, at):
        return line if isinstance(line, TrialLine) else None
    return None
