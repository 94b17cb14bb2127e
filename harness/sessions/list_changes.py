"""Lists of tools that change while a connection is open: heard, and read again when needed.

A server with a handshake notifies its clients by itself; over streamable HTTP they have to read the
stream beside answers. A server of revision 2026-07-28 notifies only subscribers. Nothing is
requested from a server that does not declare ``listChanged``, and nothing before somebody listens.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import anyio

from harness.base import HarnessError, ServerError, digest_json
from harness.sessions.session import LISTEN, Session
from harness.sessions.transports.http_errors import HttpFault
from harness.sessions.transports.throttle import Throttle
from harness.types import THE_LIST, ListChange, ServerSpec, Tool, ToolList, ToolProblem

if TYPE_CHECKING:
    from harness.sessions.client import McpClient

MOST_CHANGES = 50
"""Most times in one trial that a changed list is read again."""
ACKNOWLEDGED_S = 5.0
"""Seconds that a server may take to acknowledge a subscription."""
MOST_ATTEMPTS = 3
"""Most subscriptions of a connection, if the server ends them."""
_LAG_S = 0.02


class ChangeListener:
    """Has the server of one connection tell when its tools change, once anybody wants to know."""

    def __init__(self) -> None:
        """Start without a listener."""
        self._wanted, self._settled = anyio.Event(), anyio.Event()
        self._listening = anyio.CancelScope()

    async def start(self, client: McpClient) -> None:
        """Listen from now on, if the list of tools can change; wait until the server agreed."""
        if _may_change(client):
            self._wanted.set()
            with anyio.move_on_after(ACKNOWLEDGED_S):
                await self._settled.wait()
            if not self._settled.is_set():
                # Once for a connection; and its calls may wait behind the request.
                self._settled.set()
                self._listening.cancel()

    async def listen_until(self, over: anyio.Event, client: McpClient) -> None:
        """Wait for ``over``, the end of the connection of ``client``, and listen meanwhile."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, client)
            await over.wait()
            tasks.cancel_scope.cancel()

    async def _listen(self, client: McpClient) -> None:
        from mcp.shared.exceptions import MCPError  # loads the SDK, which a client has loaded

        await self._wanted.wait()
        # Who only listens does not decide about the connection: calls find out what is wrong.
        faults = HarnessError, HttpFault, MCPError, OSError, ValueError, RuntimeError
        with self._listening, suppress(*faults):
            for _ in range(MOST_ATTEMPTS):
                await self._listen_once(client)
        self._settled.set()

    async def _listen_once(self, client: McpClient) -> None:
        """Listen until the server ends that; over a pipe, an older one needs no request."""
        if client.is_newest:
            client.wire.foreign_clients.on_acknowledged = self._settled.set
            await client.request(LISTEN, {"notifications": {"toolsListChanged": True}})
        elif client.wire.stream is not None:
            self._settled.set()
            await client.wire.stream()


def _may_change(client: McpClient) -> bool:
    tools = client.introduction.capabilities.get("tools")
    return isinstance(tools, dict) and tools.get("listChanged") is True


class ListedTools:
    """The tools of one user on a connection, as they were read last."""

    def __init__(
        self, client: McpClient, tools: ToolList, spec: ServerSpec, turns: Throttle
    ) -> None:
        """Begin with ``tools``, as ``client`` has read them; requests wait for their ``turns``."""
        self._client = client
        self._spec = spec
        self._turns = turns
        # A change may come on another stream than the answer of the call that makes it.
        self._may_lag = client.wire.over_http and _may_change(client)
        self._heard = client.wire.foreign_clients
        self._seen_changes = self._heard.tool_changes
        self._lock = anyio.Lock()
        self._use(tools)

    def _use(self, tools: ToolList) -> None:
        from harness.sessions.tool_list import ToolSchemas  # loads the MCP SDK

        self.tools = tools
        self.schemas = ToolSchemas(tools)
        self.names = frozenset(tool.name for tool in tools.tools)
        readers = {tool.name for tool in tools.tools if tool.read_only}
        self.allowed = readers if self._spec.guard.read_only else None
        """The tools that may be called; ``None``: all."""

    async def refresh(self) -> ToolList:
        """Return the tools as they are now; they are read only if the server said they changed."""
        if self._may_lag:
            await anyio.sleep(_LAG_S)
        async with self._lock:
            if self._heard.tool_changes != self._seen_changes:
                # Before they are read: a change meanwhile is another one.
                self._seen_changes = self._heard.tool_changes
                await self._read_again()
        return self.tools

    async def _read_again(self) -> None:
        from harness.sessions.tool_list import list_tools  # loads the MCP SDK

        async def list_in_time() -> ToolList:
            with anyio.fail_after(self._spec.call_timeout_s):
                said = self._client.introduction
                return await list_tools(self._client.request, self._spec.refusals, said)

        try:
            tools = await self._turns.run_attempt(list_in_time)
        except TimeoutError:
            why = f"no answer within {self._spec.call_timeout_s:g} s"
        except (ServerError, HttpFault, OSError) as error:
            why = str(error) or "the connection is lost"
        else:
            if tools.digest != self.tools.digest:
                self._use(tools)
            return
        # As a problem of the list: what only the new one could show is not judged.
        lack = ToolProblem(tool=THE_LIST, problem=f"{UNREAD}: {why}", usable=True)
        known = tuple(one for one in self.tools.problems if not one.problem.startswith(UNREAD))
        digest = digest_json([self.tools.digest, why])
        self.tools = replace(self.tools, problems=(*known, lack), digest=digest)


UNREAD = "it changed, and could not be read again"
"""Begins the problem of a changed list that is known only as it was before."""


class ToolHistory:
    """The lists of tools that were offered in one conversation, and what changed between them."""

    def __init__(self) -> None:
        """Start without any list."""
        self.changes: list[ListChange] = []
        """What came and went, in order."""
        self._lists: list[ToolList] = []
        self._session: Session | None = None

    async def refresh(self, session: Session, reply: int) -> ToolList:
        """Return the tools that ``session`` offers now, after the model's ``reply``."""
        # Another session offers other tools, which is no change of a list.
        if session is not self._session:
            self._session = session
            self._lists.append(session.tools)
        if len(self.changes) > MOST_CHANGES:
            return self._lists[-1]
        now = await session.refresh_tools()
        # Only now: other calls of the same reply may have refreshed it meanwhile.
        if now is not self._lists[-1]:
            self._record(self._lists[-1], now, reply)
        return self._lists[-1]

    @property
    def all_offered(self) -> ToolList | None:
        """Every tool that was offered, as it was last; ``None`` before the first list."""
        if not self.changes:
            return self._lists[-1] if self._lists else None
        tools: dict[str, Tool] = {}
        problems: dict[ToolProblem, None] = {}
        for each in self._lists:
            tools |= {tool.name: tool for tool in each.tools}
            problems |= dict.fromkeys(each.problems)
        facts = [{name: getattr(tool, name) for name in Tool.__slots__} for tool in tools.values()]
        return replace(
            self._lists[-1],
            tools=tuple(tools.values()),
            problems=tuple(problems),
            changes=tuple(self.changes),
            digest=digest_json([facts, self._lists[-1].instructions, *map(asdict, self.changes)]),
        )

    def _record(self, before: ToolList, now: ToolList, reply: int) -> None:
        old, new = ({tool.name: tool for tool in each.tools} for each in (before, now))
        unread = next((p.problem for p in now.problems if p.problem.startswith(UNREAD)), None)
        if len(self.changes) == MOST_CHANGES:
            unread = f"it changed more than {MOST_CHANGES} times, and is no longer read"
            now = before
            new = old
        self._lists.append(now)
        change = ListChange(
            reply=reply,
            added=tuple(name for name in new if name not in old),
            removed=tuple(name for name in old if name not in new),
            changed=tuple(name for name in new if name in old and old[name] != new[name]),
            unread=unread,
        )
        if change.added or change.removed or change.changed or unread:
            self.changes.append(change)
