"""Another identity's session over one connection, for identity by ``meta``.

With ``meta``, each request names its user. By default, trials of different users have separate
connections, so that users cannot affect each other. Under ``isolation: none`` they share one, which
reveals a server that mixes users up. A probe, with its dozens of users, always shares connections.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

import anyio

from harness.base import NotAdmitted, OutOfResources, ServerError
from harness.sessions.connection_end import build_failure
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
    from harness.sessions.session import ForeignClient


class SharedSession(SessionWrapper):
    """A `harness.sessions.Session` of one user over another user's connection."""

    def __init__(
        self, host: Connection, user_context: JsonObject | None, caller: CallSender
    ) -> None:
        """Call this user's tools by ``caller``, over the connection ``host``."""
        super().__init__(host)
        self._host = host
        self._user_context = user_context
        self._caller = caller

    @property
    def tools(self) -> ToolList:
        """The tools that this user sees."""
        return self._caller.listed.tools

    async def refresh_tools(self) -> ToolList:
        """Return the tools as they are now (see `harness.sessions.Session.refresh_tools`)."""
        return await self._caller.listed.refresh()

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


async def list_user_tools(
    client: McpClient,
    spec: ServerSpec,
    turns: Throttle,
    when_lost: Callable[[HttpFault | None], Awaitable[str]],
    stderr_tail: Callable[[], str],
) -> ToolList:
    """Return the tools of the user that ``client`` speaks for, over another user's connection.

    ``when_lost`` returns why there is no answer, ``stderr_tail`` what the server said last.

    Raises:
        NotAdmitted: the server refused this user.
        ServerError: its tools could not be listed.
    """
    from harness.sessions.tool_list import list_tools  # loads the MCP SDK

    async def list_in_time() -> ToolList:
        # Within the attempt, because waiting for a turn is no delay of the server.
        with anyio.fail_after(spec.start_timeout_s):
            return await list_tools(
                client.request,
                spec.refusals,
                said=client.introduction,
            )

    try:
        return await turns.run_attempt(list_in_time)
    except TimeoutError as error:
        late = f"did not list its tools within {spec.start_timeout_s:g} s"
        raise ServerError(f"server {spec.name!r} {late}", gone=True) from error
    except HttpFault as fault:
        why, refused = await when_lost(fault), fault.status if fault.status in REFUSED else None
        gone = fault.status is None
        raise build_failure(why, "", refused=refused, gone=gone, busy=fault.busy) from fault
    except ConnectionError as error:
        raise ServerError(await when_lost(None), gone=True) from error
    # A `ServerError` as well, but about harness itself: the server's name must not precede it.
    except OutOfResources:
        raise
    except ServerError as error:
        why, tail = f"server {spec.name!r} {error}", error.stderr_tail or stderr_tail()
        status = error.status if isinstance(error, NotAdmitted) else None
        raise build_failure(why, tail, refused=status, gone=error.gone, busy=False) from error
