"""Another identity's session over one connection, for identity by ``meta``.

With ``meta``, each request names its user. By default, trials of different users have separate
connections, so that users cannot affect each other. Under ``isolation: none`` they share one, which
reveals a server that mixes users up. A probe, with its dozens of users, always shares connections.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from harness.base import NotAdmitted, OutOfResources, ServerError, TooBusy
from harness.sessions.session import Introduction, SessionWrapper
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.throttle import Throttle
from harness.types import JsonObject, ServerSpec, SideContent, ToolCall, ToolList, ToolRequest

REFUSED = (401, 403)
"""Statuses of HTTP that refuse a caller."""

if TYPE_CHECKING:
    from harness.sessions.calls import CallSender
    from harness.sessions.client import McpClient
    from harness.sessions.connection import Connection
    from harness.sessions.forwarding import ForeignClient


class SharedSession(SessionWrapper):
    """A `harness.sessions.Session` of one user over another user's connection."""

    def __init__(
        self,
        host: Connection,
        user_context: JsonObject | None,
        tools: ToolList,
        caller: CallSender,
    ) -> None:
        """Call this user's ``tools`` by ``caller``, over the connection ``host``."""
        super().__init__(host)
        self._host = host
        self._user_context = user_context
        self._tools = tools
        self._caller = caller

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees."""
        return self._tools

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call and return its record (see `harness.sessions.Session.call`)."""
        return await self._caller.call(request, reply=reply, epoch=epoch)

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request (see `harness.sessions.Session.send_request`)."""
        return await self._caller.send_request(method, params)

    @property
    def introduction(self) -> Introduction:
        """The server's description of itself."""
        return self._caller.introduction

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        """Forward messages to a client (see `harness.sessions.Session.forward_messages`)."""
        return self._caller.forward_messages(foreign_client)

    async def watch(self) -> tuple[SideContent, ...]:
        """Watch this user's session (see `harness.sessions.Session.watch`)."""
        return await self._host.watch_user(self._caller, self._user_context)


@dataclass(frozen=True, slots=True)
class ToolLister:
    """Lists the tools of another user over a connection."""

    spec: ServerSpec
    """The server."""
    turns: Throttle
    """Those of its requests."""
    when_lost: Callable[[HttpFault | None], Awaitable[str]]
    """Returns why there is no answer."""
    stderr_tail: Callable[[], str]
    """Returns what the server said last on stderr."""

    async def list_user_tools(self, client: McpClient) -> ToolList:
        """Return the tools of the user that ``client`` speaks for.

        Raises:
            NotAdmitted: the server refused this user.
            ServerError: its tools could not be listed.
        """
        from harness.sessions.tool_list import list_tools  # loads the MCP SDK

        async def list_in_time() -> ToolList:
            # Within the attempt, because waiting for a turn is no delay of the server.
            with anyio.fail_after(self.spec.start_timeout_s):
                return await list_tools(client.request, self.spec.refusals)

        try:
            return await self.turns.run_attempt(list_in_time)
        except TimeoutError as error:
            late = f"did not list its tools within {self.spec.start_timeout_s:g} s"
            raise ServerError(f"server {self.spec.name!r} {late}", gone=True) from error
        except HttpFault as fault:
            raise self._build_error(fault, await self.when_lost(fault)) from fault
        except ConnectionError as error:
            raise ServerError(await self.when_lost(None), gone=True) from error
        # A `ServerError` as well, but about harness itself: the server's name must not precede it.
        except OutOfResources:
            raise
        except ServerError as error:
            why = f"server {self.spec.name!r} {error}"
            tail = error.stderr_tail or self.stderr_tail()
            if isinstance(error, NotAdmitted):
                raise NotAdmitted(why, status=error.status, stderr_tail=tail) from error
            raise ServerError(why, stderr_tail=tail, gone=error.gone) from error

    @staticmethod
    def _build_error(fault: HttpFault, why: str) -> ServerError:
        if fault.status in REFUSED:
            return NotAdmitted(why, status=fault.status or 0)
        return TooBusy(why) if fault.busy else ServerError(why, gone=fault.status is None)
