"""The browser in which a person consents to a login, and the port to which it brings the answer."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio.to_thread
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult

LOGIN_S = 300.0
"""Seconds for a person to log in."""
_POLL_S = 1.0
_PATH = "/callback"


class Browser:
    """A person at this machine; satisfies `harness.sessions.identity.oauth.Person`.

    Listens on loopback from its making to `close`.
    """

    def __init__(
        self, say: Callable[[str], None], show: Callable[[str], Any] | None = webbrowser.open
    ) -> None:
        """``say`` prints a line; ``show`` opens a page, and ``None`` leaves that to the person."""
        self._say = say
        self._show = show
        self._answer: dict[str, str] | None = None
        browser = self

        class Handler(BaseHTTPRequestHandler):
            # An idle connection would otherwise keep the only thread.
            timeout = 5

            def do_GET(self) -> None:
                browser._take(self)

            def log_message(self, *_: Any) -> None:
                """Print nothing: the request has the code."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._server.timeout = _POLL_S
        self.redirect_uri = f"http://127.0.0.1:{self._server.server_port}{_PATH}"

    def close(self) -> None:
        """Stop listening."""
        self._server.server_close()

    async def open_page(self, url: str) -> None:
        """Show the page, and print its address for another browser."""
        self._say(f"Log in here, within {LOGIN_S / 60:.0f} minutes:\n  {url}")
        if self._show is not None:
            await anyio.to_thread.run_sync(self._show, url)

    async def wait_answer(self) -> AuthorizationCodeResult:
        """Return what the browser brings back.

        Raises:
            OAuthFlowError: nothing came in time, or the login was refused.
        """
        with anyio.move_on_after(LOGIN_S):
            while self._answer is None:
                await anyio.to_thread.run_sync(self._server.handle_request)
        if self._answer is None:
            raise OAuthFlowError(f"nobody logged in within {LOGIN_S / 60:.0f} minutes")
        if "error" in self._answer:
            why = self._answer.get("error_description") or self._answer["error"]
            raise OAuthFlowError(f"the login was refused: {why}")
        return AuthorizationCodeResult(
            code=self._answer.get("code", ""),
            state=self._answer.get("state"),
            iss=self._answer.get("iss"),
        )

    def _take(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        if parts.path != _PATH:  # such as the icon of the page
            handler.send_error(404)
            return
        self._answer = {name: values[0] for name, values in parse_qs(parts.query).items()}
        body = b"You can close this page and go back to the terminal."
        handler.send_response(200)
        handler.send_header("content-type", "text/plain; charset=utf-8")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
