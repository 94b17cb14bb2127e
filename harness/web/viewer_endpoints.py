"""What the viewer asks of a run: its grid, single trials, and where words are.

`harness.reports.viewer` makes what is answered, as for the HTML report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from harness.reports import (
    FILTERS,
    join_grids,
    open_database,
    open_log_index,
    search_texts,
    trial_detail,
)
from harness.runlog import TrialLine, being_written, read_header, read_lines
from harness.web.catalog import MOST_BYTES, require_log
from harness.web.jobs import RunQueue
from harness.web.labels import read_label
from harness.web.requests import parse_number, run_while_awaited
from harness.web.rows import (
    MOST_ROWS,
    ORDERS,
    Arranger,
    RowQuery,
    find_axis,
    find_place,
    read_side_by_side,
    read_window,
)
from harness.web.run_view import RunView, build_view_summary, ensure_view, find_settled, find_view
from harness.web.settings import Settings
from harness.web.view_builder import ViewBuilder, build_first_grid

MOST_RUNS = 20
"""Runs that are shown side by side at most."""
MOST_CELLS = 1_000
"""Cells of a run that a page gets at once, and filters itself; of more it asks for those on the
screen."""
_MOST_WORDS = 20
_LONGEST_WORD = 200
_WORDS = f"'word' is given 1 to {_MOST_WORDS} times, with {_LONGEST_WORD} characters."


class ViewerEndpoints:
    """The endpoints of the viewer."""

    def __init__(self, board: RunQueue, settings: Settings) -> None:
        """Show the runs of ``settings``, those of ``board`` under the names that they came with."""
        self._board = board
        self._runs = settings.runs
        self._readings = ViewBuilder()
        self._arranger = Arranger()

    def routes(self) -> list[Route]:
        """Return them."""
        return [
            Route("/evaluations/{id}/grid", self.get_grid, methods=["GET"]),
            Route("/evaluations/{id}/rows", self.get_rows, methods=["GET"]),
            Route("/evaluations/{id}/grid/with", self.get_side_by_side, methods=["GET"]),
            Route("/evaluations/{id}/trials/{at}", self.get_trial, methods=["GET"]),
            Route("/evaluations/{id}/live", self.get_live_steps, methods=["GET"]),
            Route("/evaluations/{id}/search", self.search_words, methods=["GET"]),
        ]

    async def get_grid(self, request: Request) -> Response:
        """Return what is shown of a run besides its rows, or no grid while it goes on.

        A run of few cases comes with its cells. There is no grid, either, while a large log of
        ``to_read`` bytes is still to be read: ``?whole=1`` waits for it, ``read`` is how far
        reading is, and ``?beginning=1`` asks for the first trials meanwhile.
        """
        asked = request.query_params
        job = self._board.get(request.path_params["id"])
        # Its results come as events, and its log is still being written.
        if job is not None and not job.over.is_set():
            return JSONResponse({"grid": None, "to_read": 0})
        log = self._find_log(request)
        size = await anyio.to_thread.run_sync(_size_to_read, log)
        if size is None or (size and asked.get("whole") != "1"):
            read = self._readings.get_progress(log)
            told: dict[str, Any] = {"grid": None, "to_read": size or 0, "read": read}
            if size and asked.get("beginning") == "1":
                told["beginning"] = await anyio.to_thread.run_sync(build_first_grid, log)
            return JSONResponse(told)
        view = await self._get_view(log)
        whole = await anyio.to_thread.run_sync(_build_page_data, view)
        label = await anyio.to_thread.run_sync(read_label, log)
        whole["run"] |= {"id": log.parent.name, "state": "finished", "label": label.as_json()}
        if job is not None:
            # The board knows the name that the file came with; its suites would name all cases
            # again.
            whole["run"] |= {**job.as_json(), "suites": whole["run"]["suites"]}
        return JSONResponse(whole)

    async def get_rows(self, request: Request) -> Response:
        """Return some of the rows that fit what is asked for, how many do, and where a cell is."""
        asked = request.query_params
        offset = _read_number(asked, "offset", 0)
        count = min(_read_number(asked, "count", 100), MOST_ROWS)
        log = self._find_log(request)
        if await anyio.to_thread.run_sync(being_written, log):
            raise HTTPException(409, "The run is still under way: its events tell its tests.")
        view = await self._get_view(log)
        question = await anyio.to_thread.run_sync(_parse_query, asked, view)

        def build_answer(go_on: Callable[[], None]) -> dict[str, Any]:
            rows = self._arranger.find_rows(view, question, go_on)
            found: dict[str, Any] = {"count": len(rows), "offset": offset}
            if (wanted := asked.get("find")) is not None:
                found["found"] = find_place(view, question.by, wanted, rows)
            return {**found, "rows": read_window(view, question.by, rows[offset : offset + count])}

        return JSONResponse(await run_while_awaited(request, self._board, build_answer))

    async def get_side_by_side(self, request: Request) -> Response:
        """Return the grid of this run and of each ``run=``: a column for each run and model."""
        names = [request.path_params["id"], *request.query_params.getlist("run")]
        names = list(dict.fromkeys(names))
        if len(names) > MOST_RUNS:
            raise HTTPException(400, f"At most {MOST_RUNS} runs are shown side by side.")
        logs = [require_log(name, self._runs) for name in names]
        # Here, where a large log is read by a process of its own: joining then only opens what is
        # there.
        for log in logs:
            await self._get_view(log)
        return Response(
            await anyio.to_thread.run_sync(_build_joined_grid, logs), media_type="application/json"
        )

    async def get_trial(self, request: Request) -> Response:
        """Return everything there is to see of the trial whose line begins at ``at``."""
        at = parse_number(request.path_params["at"], 15)
        log = self._find_log(request)
        line = None if at is None else await anyio.to_thread.run_sync(_read_trial_line, log, at)
        if at is None or line is None:
            raise HTTPException(404, "There is no such trial.")
        result = line.run
        if result.case.group is not None:  # what other identities saw may have decided on it
            await self._get_view(log)
            settled = await anyio.to_thread.run_sync(find_settled, log, at)
            result = settled or result
        detail = await anyio.to_thread.run_sync(trial_detail, result, line.transcript)
        return JSONResponse({**detail, "key": result.key})

    async def get_live_steps(self, request: Request) -> Response:
        """Return the steps so far of a trial under way that was started on this page."""
        given = request.query_params
        trial = parse_number(given.get("trial", "1"), 6)
        if trial is None:
            raise HTTPException(400, "'trial' takes a number from 1 on.")
        name = (given.get("suite", ""), given.get("case", ""), given.get("entrant", ""), trial)
        job = self._board.get(request.path_params["id"])
        return JSONResponse(
            {"steps": job.talks.get_steps(name) if job else [], "ours": job is not None}
        )

    async def search_words(self, request: Request) -> Response:
        """Return where in the log each word is: ``{"words": {word: [at, …]}}``."""
        words = _parse_words(request.query_params)
        if not words:
            raise HTTPException(400, _WORDS)
        log = self._find_log(request)
        found = await run_while_awaited(
            request, self._board, lambda go_on: _search_log(log, words, go_on)
        )
        return JSONResponse({"words": found})

    async def _get_view(self, log: Path) -> RunView:
        """Return the view of ``log``; a large log is read in a process of its own."""
        if await anyio.to_thread.run_sync(_size_to_read, log):
            return await self._readings.build_view(log)
        return await anyio.to_thread.run_sync(ensure_view, log)

    def _find_log(self, request: Request) -> Path:
        return require_log(request.path_params["id"], self._runs)


def _size_to_read(log: Path) -> int | None:
    """Return the bytes of a large log that is to be read first; ``None``: the run goes on.

    The log is not read for this; 0: its view comes at once.
    """
    if being_written(log):
        return None
    size = log.stat().st_size
    return size if size > MOST_BYTES and find_view(log) is None else 0


def _build_page_data(view: RunView) -> dict[str, Any]:
    """Return a run as its page shows it, with the cells of a small one."""
    grid = view.read_part("grid")
    if sum(grid["amounts"].values()) <= MOST_CELLS:
        grid["cells"] = json.loads(view.read_bodies())
    return {
        "run": view.read_part("run"),
        "done": view.read_part("done"),
        "ended": view.read_part("footer") is not None,
        "summary": build_view_summary(view),
        "grid": grid,
    }


def _build_joined_grid(logs: Sequence[Path]) -> bytes:
    """Return the grid of runs, the oldest first."""
    logs = sorted(logs, key=lambda path: path.parent.name)
    views = [ensure_view(log) for log in logs]
    found = read_side_by_side(views)
    told = []
    for log, view, cells in zip(logs, views, found.cells, strict=True):
        when = read_header(log).started_at[:16].replace("T", " ")
        told.append((log.parent.name, when, {**view.read_part("grid"), "cells": cells}))
    whole = {"grid": join_grids(told), "shown": found.shown, "tests": found.tests}
    return json.dumps(whole).encode()


def _parse_words(given: QueryParams) -> tuple[str, ...]:
    """Return the words that are searched for, in small letters.

    Raises:
        HTTPException: they are too many, or too long.
    """
    words = tuple(dict.fromkeys(word.lower() for word in given.getlist("word")))
    if len(words) > _MOST_WORDS or any(not word or len(word) > _LONGEST_WORD for word in words):
        raise HTTPException(400, _WORDS)
    return words


def _parse_query(given: QueryParams, view: RunView) -> RowQuery:
    """Return which rows are asked for.

    Raises:
        HTTPException: there is no such order or axis.
    """
    by, sort = given.get("by") or "model", given.get("sort") or "urgency"
    if find_axis(view, by) is None or sort not in ORDERS:
        raise HTTPException(400, f"'sort' takes one of: {', '.join(ORDERS)}; 'by' an axis.")
    return RowQuery(
        by=by,
        sort=sort,
        chosen=tuple((name, value) for name in FILTERS if (value := given.get(name))),
        words=_parse_words(given),
        failed=given.get("failed") == "1",
        warned=given.get("warned") == "1",
        different=given.get("different") == "1",
    )


def _search_log(log: Path, words: Sequence[str], go_on: Callable[[], None]) -> dict[str, list[int]]:
    """Return where in ``log`` each of ``words`` was said."""
    found: dict[str, list[int]] = {word: [] for word in words}
    with (
        open_log_index(log, lambda _: go_on()) as store,
        open_database(store) as db,
    ):
        for word, at in search_texts(db, words, go_on):
            found[word].append(at)
    return found


def _read_number(given: QueryParams, name: str, default: int) -> int:
    number = parse_number(given.get(name, str(default)), 12)
    if number is None:
        raise HTTPException(400, f"'{name}' takes a number from 0 on.")
    return number


def _read_trial_line(log: Path, at: int) -> TrialLine | None:
    """Return the trial whose line begins at ``at``: a place in the middle of a line is none."""
    with log.open("rb") as file:
        # A number from outside may point anywhere, also at an object within a line.
        file.seek(max(0, at - 1), os.SEEK_SET)
        if at == 0 or file.read(1) != b"\n":
            return None
    for _, _, line in read_lines(log, at):
        return line if isinstance(line, TrialLine) else None
    return None
