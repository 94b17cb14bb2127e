"""Every request: who may ask, how a refusal is told, and how long its work goes on."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from harness.web.jobs import RunQueue
from harness.web.settings import Settings, is_address, is_loopback

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
    <a href="/suites">Suites</a>
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


COOKIE = "harness_token"
HEALTH = "/health"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src "
    "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content security policy: only the page's own scripts, styles and images; no markup from strings.
"""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware that refuses requests, or passes them on and adds headers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Protect ``app``."""
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            # A websocket would pass none of these checks, and the page has none.
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        answer = self._find_refusal(scope, Headers(scope=scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    # A report and a comparison bring their own policy, for the script inside the
                    # page.
                    headers.setdefault(name, value)
            await send(message)

        await (answer or self._app)(scope, receive, send_with_headers)

    def _find_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        # Of two Host headers, a proxy before this page may have checked the other one.
        if len(hosts) != 1 or not self._is_known_host(_parse_hostname(hosts[0])):
            return error_response(headers, 421, "This page does not go by that name.")
        if _is_foreign(scope, headers, hosts[0]):
            return error_response(headers, 403, "Requests from pages of other sites are refused.")
        token = self._settings.token
        # Whoever watches the service has no token, and the answer says nothing of any run.
        if token is None or scope["path"] == HEALTH or _is_same_token(_read_token(headers), token):
            return None
        return _accept_token(scope, token) or error_response(
            headers,
            401,
            "A token is needed: use the link that 'harness serve' printed, or send Authorization: "
            "Bearer TOKEN.",
        )

    def _is_known_host(self, name: str | None) -> bool:
        settings = self._settings
        if name is None:
            return False
        if is_loopback(name) or name in {
            settings.host.lower(),
            *(known.lower() for known in settings.names),
        }:
            return True
        # An address cannot be rebound, as a name can; a local page is reached by loopback alone.
        return is_address(name) and not settings.is_local


def _parse_hostname(host: str) -> str | None:
    try:
        parts = urlsplit(f"//{host}")
        # Raises for a port that is no number.
        _ = parts.port
    except ValueError:
        return None
    # What follows a slash, or precedes an @, would be another host for another reader.
    return parts.hostname if parts.netloc == host and not parts.username else None


def _is_foreign(scope: Scope, headers: Headers, host: str) -> bool:
    if not all(_is_ours(origin, host) for origin in headers.getlist("origin")):
        return True
    # Programs do not send this header; browsers do, and their scripts cannot change it.
    if headers.get("sec-fetch-site", "none") in {"none", "same-origin"}:
        return False
    followed = (
        headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
    return not (followed and scope["method"] == "GET")


def _is_ours(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def _read_token(headers: Mapping[str, str]) -> str:
    """Return the token of a request, or an empty text."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _accept_token(scope: Scope, token: str) -> Response | None:
    """Set the cookie for a token in a link, and redirect to the link without it."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    # A redirect would lose the body of anything but a GET.
    if scope["method"] != "GET" or not _is_same_token(dict(query).get("token", ""), token):
        return None
    rest = urlencode([(name, value) for name, value in query if name != "token"])
    # Exactly one leading slash: two would lead to another site.
    target = "/" + scope["path"].lstrip("/") + (f"?{rest}" if rest else "")
    answer = RedirectResponse(target, 303)
    answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
    return answer


def _is_same_token(shown: str, token: str) -> bool:
    # As bytes: of texts, `compare_digest` takes ASCII alone, and a client sends what it likes.
    return hmac.compare_digest(shown.encode(), token.encode())


T = TypeVar("T")


def parse_number(text: str, digits: int) -> int | None:
    """Return the number that ``text`` says in at most so many ``digits``, if it does."""
    # Checked before `int` sees it, which takes digits of other scripts, and fails beyond 4,300.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


class _RequestAbandoned(Exception):
    """Nobody waits any more; raised in the thread."""


async def run_while_awaited(
    request: Request, board: RunQueue, work: Callable[[Callable[[], None]], T]
) -> T:
    """Return what ``work`` returns, which is called in a thread with a function ``go_on``.

    ``work`` calls ``go_on`` often. That raises once the client has gone, the page stops or this
    call is cancelled, and so ends the work: a thread cannot be cancelled from outside.

    Raises:
        HTTPException: it was given up; only a page that stops has somebody left to tell.
        Exception: whatever ``work`` raises.
    """
    given_up = threading.Event()

    def raise_if_abandoned() -> None:
        if given_up.is_set():
            raise _RequestAbandoned

    async def abandon_after(end: Callable[[], Awaitable[None]]) -> None:
        await end()
        given_up.set()

    async def client_gone() -> None:
        # The server says nothing of a client that has gone, unless it is asked for the next
        # message.
        while (await request.receive())["type"] != "http.disconnect":
            pass

    try:
        async with anyio.create_task_group() as watchers:
            watchers.start_soon(abandon_after, client_gone)
            watchers.start_soon(abandon_after, board.closing.wait)
            try:
                # anyio waits for its threads even when it is cancelled, so the thread has to end by
                # itself.
                found = await anyio.to_thread.run_sync(work, raise_if_abandoned)
            finally:
                given_up.set()  # cancelled natively, this task no longer waits for its thread
                watchers.cancel_scope.cancel()
    except ExceptionGroup as group:  # task groups wrap exceptions
        problem = group.exceptions[0]
        if isinstance(problem, _RequestAbandoned):
            raise HTTPException(503, "The page is being stopped.") from problem
        raise problem from None
    return found
