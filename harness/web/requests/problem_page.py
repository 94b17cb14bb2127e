"""Report a failed request: as a page in a browser, as JSON to other clients."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · harness</title>
<link rel="icon" href="/static/favicon.svg">
<link rel="stylesheet" href="/static/style.css">
</head>
<body>
<header class="top">
  <strong>harness</strong>
  <nav aria-label="Pages">
    <a href="/evaluation">Evaluation</a>
    <a href="/runs">Runs</a>
    <a href="/docs">API</a>
  </nav>
</header>
<main id="main" tabindex="-1">
  <h1>{title}</h1>
  <p class="lines">{message}</p>
  <p class="dim">The server answered {status}.</p>
</main>
</body>
</html>
"""
_TITLES = {
    401: "A token is needed",
    404: "Not found",
    409: "Not now",
    422: "This cannot be done",
}


def error_response(
    request: Headers, status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return ``message`` as a page if ``request`` has the headers of a browser that opens one."""
    if not _opens_a_page(request):
        return JSONResponse({"error": message}, status, headers=headers)
    title = escape(_TITLES.get(status) or HTTPStatus(status).phrase)
    page = _PAGE.format(title=title, message=escape(message), status=status)
    return HTMLResponse(page, status, headers=headers)


def _opens_a_page(request: Headers) -> bool:
    """A browser that opens a page asks for HTML first; its scripts, and programs, do not."""
    accepted = request.get("accept", "")
    return accepted.partition(",")[0].partition(";")[0].strip().lower() == "text/html"
