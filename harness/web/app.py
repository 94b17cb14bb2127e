"""The page as an ASGI application."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from harness.base import HarnessError
from harness.web.ended.again import Again
from harness.web.ended.reviews import Reviews
from harness.web.evaluations import Evaluations, refused
from harness.web.jobs import Board
from harness.web.pages import Pages
from harness.web.requests.guard import Guard
from harness.web.requests.problem_page import error_response
from harness.web.settings import Settings
from harness.web.viewing import Viewing


def make_app(board: Board, settings: Settings) -> Starlette:
    """Return the application over ``board``."""
    return Starlette(
        routes=[
            *Evaluations(board, settings).routes(),
            *Reviews(settings).routes(),
            *Again(settings).routes(),
            *Viewing(board, settings).routes(),
            *Pages(settings).routes(),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: _told, HarnessError: refused},
    )


def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = {
        **(error.headers or {}),
        **({"connection": "close"} if error.status_code == 413 else {}),  # noqa: PLR2004
    }
    return error_response(request.headers, error.status_code, error.detail, headers)
