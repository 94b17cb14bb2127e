"""The API ``/evaluations``: starts, lists, streams, cancels and downloads runs."""

from __future__ import annotations

import io
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from harness.base import HarnessError, builtin_suites
from harness.reports import build_report, build_summary, clean_json, run_facts, write_json
from harness.runlog import being_written, read_header, read_log
from harness.runner import MOST_ON_PAGE, NOBODY
from harness.suites import OFFLINE, load_config
from harness.web import vetting
from harness.web.catalog import ENDINGS, MOST, Catalog, RunFilter, get_state, has_begun, require_log
from harness.web.feed import FollowerCache, follow_log, format_page
from harness.web.jobs import ABORT_S, LISTEN_S, STOP_S, QueueFull, RunJob, RunQueue
from harness.web.process import UploadRefused
from harness.web.requests import error_response, parse_number, run_while_awaited
from harness.web.run_view import build_view_summary, ensure_view
from harness.web.settings import Settings
from harness.web.uploads import read_upload

RETRY_MS = 1_000
"""Milliseconds after which a browser that lost its stream reconnects."""
FAREWELL_S = LISTEN_S + STOP_S + ABORT_S
"""Seconds that a stream stays open when the page stops, to report the interruption of its run."""
SAMPLE = "finance.csv"


class Evaluations:
    """The endpoints, over a board."""

    def __init__(self, board: RunQueue, settings: Settings) -> None:
        """Answer for ``board``."""
        self._board = board
        self._settings = settings
        self._followers = FollowerCache()
        self.catalog = Catalog(settings.runs)
        """The runs of the folder, which are read once for all endpoints."""

    def routes(self) -> list[Route]:
        """Return them."""
        return [
            Route("/evaluations", self.list_runs, methods=["GET"]),
            Route("/evaluations", self.begin_run, methods=["POST"]),
            Route("/evaluations/run", self.run_streaming, methods=["POST"]),
            Route("/evaluations/check", self.check_upload, methods=["POST"]),
            Route("/evaluations/options", self.get_options, methods=["GET"]),
            Route("/evaluations/sample", self.get_sample, methods=["GET"]),
            Route("/evaluations/{id}", self.get_run, methods=["GET"]),
            Route("/evaluations/{id}", self.cancel_run, methods=["DELETE"]),
            Route("/evaluations/{id}/events", self.stream_events, methods=["GET"]),
            Route("/evaluations/{id}/download", self.download_results, methods=["GET"]),
        ]

    async def get_options(self, _request: Request) -> Response:
        """Return the names of models, servers and judges to choose from."""
        config = await anyio.to_thread.run_sync(load_config, Path.cwd(), os.environ)
        settings = self._settings
        usable = {model.spec.name: model.error is None for model in config.list_models()}
        return JSONResponse(
            {
                "models": [
                    {"name": name, "usable": usable.get(name, True)}
                    for name in vetting.model_names(config)
                ],
                "default_model": config.default_model or OFFLINE,
                "servers": list(vetting.server_names(config)),
                "no_judge": NOBODY,
                "limits": {
                    "bytes": settings.max_bytes,
                    "cases": settings.max_cases,
                    "case_seconds": settings.case_timeout_s,
                    "concurrency": MOST_ON_PAGE,
                    "at_once": settings.at_once,
                    "queued": settings.queued,
                },
            }
        )

    async def get_sample(self, _request: Request) -> Response:
        """Return the sample dataset."""
        text = (builtin_suites() / SAMPLE).read_text("utf-8")
        return PlainTextResponse(
            text, media_type="text/csv", headers=_build_attachment_header("sample.csv")
        )

    async def check_upload(self, request: Request) -> Response:
        """Return the plan of an upload without running it."""
        upload, choice = await read_upload(request, self._settings)
        return JSONResponse({"ok": True, **await self._board.check(upload, choice)})

    async def begin_run(self, request: Request) -> Response:
        """Start a run and return at once."""
        upload, choice = await read_upload(request, self._settings)
        job = await self._board.submit(upload, choice)
        return JSONResponse(
            add_links(job.as_json()), 202, headers={"location": f"/evaluations/{job.id}"}
        )

    async def run_streaming(self, request: Request) -> Response:
        """Start a run and stream its events; a refusal is an event as well."""
        upload, choice = await read_upload(request, self._settings)
        try:
            job = await self._board.submit(upload, choice)
        except UploadRefused as refused:
            event = ServerSentEvent(json.dumps(_encode_refusal(refused)), event="error", sep="\n")
            return Response(event.encode(), 422, media_type="text/event-stream")
        return self._stream(job.feed.listen(), {"x-run-id": job.id})

    async def stream_events(self, request: Request) -> Response:
        """Stream the events of a run after the listener's last event.

        A client that accepts JSON gets those that are known by now, and asks again.
        """
        last_seen = request.headers.get("last-event-id") or request.query_params.get(
            "last_event_id"
        )
        job = self._find_job(request)
        if request.headers.get("accept") == "application/json":
            return await self._known_events(job, request, last_seen)
        return self._stream(
            job.feed.listen(last_seen) if job else follow_log(self._find_log(request), last_seen)
        )

    async def _known_events(
        self, job: RunJob | None, request: Request, last_seen: str | None
    ) -> Response:
        # A run that was started here has its events in memory: nothing of it is left to be read.
        more = False
        if job is None:
            followed = await self._followers.get_follower(self._find_log(request))
            more = await followed.advance()
        feed = job.feed if job else followed.feed
        text = await format_page(feed, last_seen, more=more)
        return Response(text, media_type="application/json")

    async def list_runs(self, request: Request) -> Response:
        """Return runs, the newest first: waiting ones, and those with a log that match."""
        wanted = request.query_params
        limit = _parse_limit(wanted.get("limit", "50"))
        if (result := wanted.get("result")) and result not in ENDINGS:
            raise HTTPException(400, f"'result' takes one of: {', '.join(ENDINGS)}.")

        asked = RunFilter(
            suite=wanted.get("suite", ""),
            model=wanted.get("model", ""),
            result=result or "",
            label=wanted.get("label", ""),
        )
        found = await run_while_awaited(
            request, self._board, lambda go_on: self.catalog.find(asked, limit, go_on)
        )
        waiting = (
            []
            # Filters ask for results, and a run that waits has none.
            if set(wanted) - {"limit"}
            else [add_links(job.as_json()) for job in self._board.list_waiting()]
        )
        ours = [
            {**add_links(entry), "ours": self._board.get(entry["id"]) is not None}
            for entry in found.entries
        ]
        return JSONResponse(
            {"waiting": waiting, "runs": ours, "known": found.known, "unread": found.unread}
        )

    async def get_run(self, request: Request) -> Response:
        """Return a whole run."""
        job = self._find_job(request)
        if job is not None and not has_begun(job.log):
            return JSONResponse(add_links(job.as_json()))
        path = self._find_log(request)
        header = await anyio.to_thread.run_sync(read_header, path)
        state, known = await anyio.to_thread.run_sync(_read_progress, path)
        facts = job.as_json() if job else run_facts(header, path) | {"state": state}
        return JSONResponse({**add_links(facts), **known})

    async def cancel_run(self, request: Request) -> Response:
        """End a run; its log is complete when this returns."""
        job = self._find_job(request)
        if job is None:
            # Only for its 404: a run that there is was started elsewhere.
            self._find_log(request)
            raise HTTPException(
                409, "This run was not started here: end it where it was started, with Ctrl-C."
            )
        await self._board.cancel(job)
        return JSONResponse(add_links(job.as_json()))

    async def download_results(self, request: Request) -> Response:
        """Return all results as one JSON document, the same as ``harness evals --json-output``."""
        path = self._find_log(request)
        text = await anyio.to_thread.run_sync(_build_document, path)
        if text is None:
            raise HTTPException(409, "The run is still under way.")
        name = f"{path.parent.name}.json"
        return Response(text, media_type="application/json", headers=_build_attachment_header(name))

    def _find_job(self, request: Request) -> RunJob | None:
        return self._board.get(request.path_params["id"])

    def _find_log(self, request: Request) -> Path:
        return require_log(request.path_params["id"], self._settings.runs)

    def _stream(
        self, events: AsyncIterator[tuple[str, str, str]], headers: dict[str, str] | None = None
    ) -> EventSourceResponse:
        return EventSourceResponse(
            _encode_events(events),
            headers=headers,
            ping=self._settings.heartbeat_s,
            sep="\n",
            shutdown_event=anyio.Event(),
            # Otherwise sse-starlette ends each stream as soon as the page stops, and nobody hears
            # how a run ended.
            shutdown_grace_period=FAREWELL_S,
        )


async def _encode_events(
    events: AsyncIterator[tuple[str, str, str]],
) -> AsyncIterator[ServerSentEvent]:
    retry: int | None = RETRY_MS  # said once
    try:
        async for number, name, text in events:
            yield ServerSentEvent(text, event=name, id=number, retry=retry, sep="\n")
            retry = None
    # The status 200 is sent by now, so a failure can only be told as an event.
    except (HarnessError, OSError) as error:
        text = json.dumps(
            {"message": clean_json(f"The log of this run cannot be read: {error}"), "problems": []}
        )
        yield ServerSentEvent(text, event="error", sep="\n")


def respond_refusal(request: Request, error: Exception) -> Response:
    """Return the response for an upload that cannot be run, or not now."""
    if isinstance(error, UploadRefused):
        return JSONResponse(_encode_refusal(error), 422)
    status, headers = (503, {"retry-after": "10"}) if isinstance(error, QueueFull) else (422, {})
    return error_response(request.headers, status, clean_json(str(error)), headers)


def _encode_refusal(error: UploadRefused) -> dict[str, Any]:
    return {
        "error": "This cannot be run.",
        "message": "This cannot be run.",
        "problems": error.problems,
    }


def _read_progress(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the state of a run, its number of ended trials, and its summary if it has ended."""
    # A view holds for a log that has ended; that of a run under way would be made anew for each
    # request.
    if being_written(path):
        log = read_log(path)
        whole = build_summary(log, build_report(log)) if log.footer else None
        return get_state(log), {"done": len(log.results), "summary": whole}
    view = ensure_view(path)
    ended = view.read_part("footer") is not None
    return "finished", {
        "done": view.read_part("done"),
        "summary": build_view_summary(view) if ended else None,
    }


def _build_document(path: Path) -> str | None:
    log = read_log(path)
    if get_state(log) == "running":
        return None
    stream = io.StringIO()
    report = build_report(log)
    write_json(report, log, stream, {"evaluation": build_summary(log, report)})
    return stream.getvalue()


def add_links(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a run with the addresses of what there is of it."""
    base = f"/evaluations/{facts['id']}"
    return {
        **facts,
        "links": {"self": base, "events": f"{base}/events", "download": f"{base}/download"},
    }


def _build_attachment_header(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _parse_limit(text: str) -> int:
    if not (number := parse_number(text, 6)):
        raise HTTPException(400, f"'limit' takes a number from 1 to {MOST}.")
    return min(number, MOST)
