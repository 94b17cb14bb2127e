"""Several servers of one suite, joined: one list of tools, each call to the server whose tool it is.

A tool whose name two servers have is offered by each as ``server__tool``, and so is one that is
called like that already; every other keeps its name. No two that are offered have the same. What is
recorded is the name that was offered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain, count

from harness.canonical_json import digest
from harness.errors import ServerError
from harness.sessions import SEPARATOR
from harness.sessions.connection import Connection
from harness.types import JsonObject, ToolCall, ToolList, ToolProblem, ToolRequest


class JoinedTools:
    """The tools of several servers under one roof."""

    def __init__(self, names: Sequence[str], lists: Sequence[ToolList]) -> None:
        """Join ``lists``, those of the servers called ``names``."""
        every = [(place, tool) for place, tools in enumerate(lists) for tool in tools.tools]
        called = _told_apart([(names[place], tool.name) for place, tool in every])
        self._home: dict[str, tuple[int, str]] = {}
        offered, notes = [], []
        for (place, tool), name in zip(every, called, strict=True):
            self._home[name] = place, tool.name
            offered.append(replace(tool, name=name))
            if name != tool.name:
                problem = (
                    f"another server's tool goes by the name {tool.name!r}, too: this one "
                    f"is "
                    f"offered as {name!r}"
                )
                notes.append(ToolProblem(tool=name, problem=problem, usable=True))
        problems = (*chain.from_iterable(tools.problems for tools in lists), *notes)
        self.offered = ToolList(
            tools=tuple(offered), problems=problems, digest=digest([t.digest for t in lists])
        )

    def home(self, tool: str) -> tuple[int, str]:
        """Return the place of the server that has ``tool``, and what it calls it; the first for an unknown one."""
        return self._home.get(tool, (0, tool))


def _told_apart(tools: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name of its own for each (server, tool)."""
    shared: set[str] = set()
    while True:
        called = [
            f"{server}{SEPARATOR}{tool}" if tool in shared else tool for server, tool in tools
        ]
        counts = Counter(called)
        more = {
            tool for (_, tool), name in zip(tools, called, strict=True) if counts[name] > 1
        } - shared
        if not more:
            break
        shared |= more
    reserved, given = set(called), set[str]()
    for place, name in enumerate(called):
        if name in given:  # ``b__c`` of ``a`` is called like ``c`` of ``a__b``
            called[place] = next(
                new for n in count(2) if (new := f"{name}{SEPARATOR}{n}") not in reserved | given
            )
        given.add(called[place])
    return called


class JoinedSession:
    """A `harness.sessions.Session` over those of several servers, all of one user."""

    def __init__(
        self,
        names: Sequence[str],
        connections: Sequence[Connection],
        tools: JoinedTools,
        block: Collection[str] = (),
    ) -> None:
        """Join ``connections`` to the servers called ``names``, whose tools are ``tools``.

        No call is sent to a tool that is offered by a name in ``block``; connections block by their
        own names.
        """
        self._names = names
        self._block = block
        self._connections = connections
        self._tools = tools

    @property
    def tools(self) -> ToolList:
        """What this user sees of all servers."""
        return self._tools.offered

    @property
    def lost(self) -> str | None:
        """Why a server is gone, once one is."""
        return next(
            (connection.lost for connection in self._connections if connection.lost is not None),
            None,
        )

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call to the server that has its tool (see `harness.sessions.Session.call`)."""
        if request.tool in self._block:
            from harness.sessions.calls import held_back

            return held_back(request, reply=reply, epoch=epoch)
        place, own = self._tools.home(request.tool)
        made = await self._connections[place].call(
            replace(request, tool=own), reply=reply, epoch=epoch
        )
        return replace(made, tool=request.tool)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask one server after the other; the first that has a result gives it."""
        refusals = []
        for connection in self._connections:
            try:
                return await connection.ask(method, params)
            except ServerError as error:
                refusals.append(str(error))
        raise ServerError("; ".join(refusals))

    def stderr_tail(self) -> str:
        """Return the last words of every server that said any."""
        tails = (
            (name, part.stderr_tail())
            for name, part in zip(self._names, self._connections, strict=True)
        )
        return "\n".join(f"── {name}\n{tail}" for name, tail in tails if tail)
