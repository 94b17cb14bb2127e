"""The page as an ASGI application."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from harness.base import HarnessError
from harness.web.ended.rerun import RerunEndpoint
from harness.web.ended.reviews import Reviews
from harness.web.evaluations import Evaluations, respond_refusal
from harness.web.jobs import RunQueue
from harness.web.pages import Pages
from harness.web.requests.guard import Guard
from harness.web.requests.problem_page import error_response
from harness.web.settings import Settings
from harness.web.viewer_endpoints import ViewerEndpoints


def make_app(board: RunQueue, settings: Settings) -> Starlette:
    """Return the application over ``board``."""
    return Starlette(
        routes=[
            *Evaluations(board, settings).routes(),
            *Reviews(settings).routes(),
            *RerunEndpoint(settings).routes(),
            *ViewerEndpoints(board, settings).routes(),
            *Pages(settings).routes(),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: _respond_error, HarnessError: respond_refusal},
    )


def _respond_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = {
        **(error.headers or {}),
        # What is left of a body that is too large is not read, so nothing else can follow on its
        # connection.
        **({"connection": "close"} if error.status_code == 413 else {}),  # noqa: PLR2004
    }
    return error_response(request.headers, error.status_code, error.detail, headers)
