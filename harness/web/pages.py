"""The HTML pages: the pages themselves, the report of a run, a comparison of two runs."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO
from urllib.parse import urlencode

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from harness.base import UsageError
from harness.descriptions import WORKBENCH_PAGE
from harness.reports import (
    ASSETS,
    COMPARISON_PAGE,
    REPORT_PAGE,
    WORKBENCH,
    Side,
    build_report,
    clean_json,
    compare_runs,
    compared_run,
    open_shown_run,
    write_comparison_html,
    write_html,
)
from harness.runlog import read_header, read_log
from harness.runner import options_of
from harness.suites import AXES
from harness.types import JsonObject
from harness.web.catalog import require_log
from harness.web.requests import HEALTH
from harness.web.settings import Settings
from harness.web.workbench_page import NoPage, build_page

STATIC = Path(__file__).with_name("static")
_CHUNK = 65_536
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]")
"""What a file name in a header is better without."""


class Pages:
    """The endpoints of HTML pages."""

    def __init__(self, settings: Settings) -> None:
        """Show the runs of ``settings``."""
        self._settings = settings

    def routes(self) -> list[BaseRoute]:
        """Return them."""
        return [
            Route("/", lambda _: RedirectResponse("/evaluation")),
            Route("/evaluation", _make_page_endpoint("evaluation.html")),
            Route("/suites", _make_page_endpoint("suites.html")),
            Route("/runs", _make_page_endpoint("runs.html")),
            Route("/docs", _make_page_endpoint("docs.html")),
            Route("/openapi.json", lambda _: JSONResponse(api_document())),
            Route("/favicon.ico", _make_page_endpoint("favicon.svg")),
            Route(HEALTH, lambda _: JSONResponse({"status": "ok"})),
            Route("/runs/compare", self.get_comparison),
            Route("/runs/grid", _make_page_endpoint("grid.html")),
            Route("/runs/{id}/report", self.get_report),
            Route("/runs/{id}/workbench", self.get_workbench),
            # Before /static, which would take these addresses as well.
            Mount("/static/assets", StaticFiles(directory=ASSETS)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    async def get_report(self, request: Request) -> Response:
        """Return the report page of a run: every message, call and check."""
        path = require_log(request.path_params["id"], self._settings.runs)

        def write_report_page(stream: TextIO) -> None:
            log = read_log(path)
            write_html(build_report(log), log, stream)

        shared = "share" in request.query_params
        name = f"{_UNSAFE.sub('_', path.parent.name)}.html" if shared else None
        # A browser heeds frame-ancestors in a header alone, so the page itself cannot say it.
        return await _respond_with_page(
            write_report_page, REPORT_PAGE.policy + "; frame-ancestors 'none'", name
        )

    async def get_workbench(self, request: Request) -> Response:
        """Return the page of a workbench: what its studies found."""
        run_id = request.path_params["id"]
        header = await anyio.to_thread.run_sync(
            read_header, require_log(run_id, self._settings.runs)
        )
        if WORKBENCH not in header.settings:
            raise HTTPException(404, "This run was not made by harness workbench.")
        try:
            page = await build_page(run_id)
        except NoPage as error:
            words = clean_json(f"The page of this workbench cannot be made: {error}")
            raise HTTPException(422, words) from error
        policy = f"{WORKBENCH_PAGE.policy}; frame-ancestors 'none'"
        return Response(page, media_type="text/html", headers={"content-security-policy": policy})

    async def get_comparison(self, request: Request) -> Response:
        """Return the comparison page: run ``a`` with each run ``b``, or the models of ``a``."""
        asked = [*request.query_params.getlist("a")[:1], *request.query_params.getlist("b")]
        paths = [require_log(name, self._settings.runs) for name in asked or [""]]

        def write_comparison_page(stream: TextIO) -> None:
            with ExitStack() as stack:
                runs = [stack.enter_context(compared_run(path))[0] for path in paths]
                comparison = compare_runs(runs)
            write_comparison_html(comparison, stream, _format_address, open_shown_run)

        try:
            return await _respond_with_page(
                write_comparison_page, f"{COMPARISON_PAGE.policy}; frame-ancestors 'none'"
            )
        except UsageError as error:
            raise HTTPException(422, f"These runs cannot be compared: {error}") from error


def _format_address(side: Side) -> str:
    """Return the address of the results of a side; a run is called like its folder."""
    return f"/evaluation?{urlencode({'run': Path(side.log).parent.name})}"


def api_document() -> JsonObject:
    """Return the description of the API, with the options of a run and the axes of trials."""
    api: JsonObject = json.loads((STATIC / "openapi.json").read_text("utf-8"))
    body = api["paths"]["/evaluations/run"]["post"]["requestBody"]
    fields = body["content"]["multipart/form-data"]["schema"]["properties"]
    # Written here, so that a new option or axis cannot be missing from the description.
    for option in options_of("page"):
        one = {"type": "string", "description": option.help_at("page")}
        fields[option.key] = one
    filters = api["paths"]["/evaluations/{id}/rows"]["get"]["parameters"]
    results = api["components"]["schemas"]["Result"]["properties"]
    for axis in AXES:
        told = {"name": axis.name, "in": "query", "description": axis.doc}
        filters.append({**told, "schema": {"type": "string"}})
        results[axis.name] = {"type": ["string", "null"], "description": axis.doc}
    return api


def _make_page_endpoint(name: str) -> Callable[[Request], Response]:
    def serve_page(_request: Request) -> Response:
        return FileResponse(STATIC / name)

    return serve_page


async def _respond_with_page(
    write: Callable[[TextIO], None], policy: str, file_name: str | None = None
) -> Response:
    """Return a page via a private temporary file, so that a large one needs little memory.

    With a ``file_name``, a browser keeps it as a file.
    """
    file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", newline="")  # noqa: SIM115 - closed below

    # Written to its end before the first byte is sent: a failure can still get a status of its own.
    def write_whole() -> None:
        write(file)
        file.seek(0)

    def iterate_chunks() -> Iterator[str]:
        with file:
            while chunk := file.read(_CHUNK):
                yield chunk

    try:
        await anyio.to_thread.run_sync(write_whole)
    # Otherwise the response closes it, after its last byte.
    except BaseException:
        file.close()
        raise
    headers = {"content-security-policy": policy}
    if file_name is not None:
        headers["content-disposition"] = f'attachment; filename="{file_name}"'
    return StreamingResponse(iterate_chunks(), media_type="text/html", headers=headers)
