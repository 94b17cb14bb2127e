"""Joins several servers of a suite: one list of tools; each call goes to its tool's server.

Tools with the same name on two servers are offered as ``server__tool``, and so is a tool that
already has such a name; all others keep their names, so offered names are unique. The offered name
is recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import chain, count

from harness.base import RequestRefused, RequestRejected, ServerError, digest_json
from harness.sessions.call_record import build_unanswered_call, explain_block
from harness.sessions.session import (
    SEPARATOR,
    ForeignClient,
    Introduction,
    Session,
    get_next_cursor,
)
from harness.types import JsonObject, SideContent, ToolCall, ToolList, ToolProblem, ToolRequest

_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_PAGES = 100
"""Most pages of one list that are read."""


class JoinedTools:
    """The tools of several servers in one list."""

    def __init__(self, names: Sequence[str], lists: Sequence[ToolList]) -> None:
        """Join ``lists``, the tools of the servers named ``names``."""
        self.lists = lists
        """The tools of each server."""
        every = [(place, tool) for place, tools in enumerate(lists) for tool in tools.tools]
        called = _disambiguate_names([(names[place], tool.name) for place, tool in every])
        self._home: dict[str, tuple[int, str]] = {}
        self._called: dict[tuple[int, object], str] = {}
        offered, notes = [], []
        for (place, tool), name in zip(every, called, strict=True):
            self._home[name] = place, tool.name
            self._called[place, tool.name] = name
            offered.append(replace(tool, name=name))
            if name != tool.name:
                also = f"another server also has a tool named {tool.name!r}"
                problem = f"{also}: this one is offered as {name!r}"
                notes.append(ToolProblem(tool=name, problem=problem, usable=True))
        problems = (*chain.from_iterable(tools.problems for tools in lists), *notes)
        self.offered = ToolList(
            tools=tuple(offered),
            problems=problems,
            digest=digest_json([t.digest for t in lists]),
            prefixes=tuple(f"{name}{SEPARATOR}" for name in names),
            instructions={
                name: text
                for name, tools in zip(names, lists, strict=True)
                for text in tools.instructions.values()
            },
        )

    def find_server(self, tool: str) -> tuple[int, str]:
        """Return the index of the server of ``tool`` and its name there; 0 for an unknown tool."""
        # Some server has to be asked: its own error says that there is no such tool.
        return self._home.get(tool, (0, tool))

    def get_offered_name(self, place: int, tool: object) -> str | None:
        """Return the name under which ``tool`` of the server at ``place`` is offered."""
        return self._called.get((place, tool))


def _disambiguate_names(tools: Sequence[tuple[str, str]]) -> list[str]:
    """Return a unique name for each (server, tool)."""
    shared: set[str] = set()
    # A longer name may be that of another tool (`a__b`), so look again until none is shared.
    while True:
        called = [
            f"{server}{SEPARATOR}{tool}" if tool in shared else tool for server, tool in tools
        ]
        counts = Counter(called)
        named = zip(tools, called, strict=True)
        if not (more := {tool for (_, tool), name in named if counts[name] > 1} - shared):
            break
        shared |= more
    reserved, given = set(called), set[str]()
    for place, name in enumerate(called):
        if name in given:  # ``b__c`` of ``a`` has the same name as ``c`` of ``a__b``
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
        sessions: Sequence[Session],
        tools: JoinedTools,
        block: Collection[str] = (),
    ) -> None:
        """Join ``sessions`` of the servers named ``names``, whose tools are ``tools``.

        No call is sent to a tool whose offered name is in ``block``; the sessions block by the
        tools' own names.
        """
        self._names = names
        self._block = block
        self._sessions = sessions
        self._tools = tools

    @property
    def tools(self) -> ToolList:
        """The tools of all servers that this user sees."""
        return self._tools.offered

    async def listen_for_changes(self) -> None:
        """Listen for changed lists of all servers."""
        for session in self._sessions:
            await session.listen_for_changes()

    async def refresh_tools(self) -> ToolList:
        """Return the tools as they are now, which may give others their names on two servers."""
        lists = [await session.refresh_tools() for session in self._sessions]
        if any(new is not old for new, old in zip(lists, self._tools.lists, strict=True)):
            self._tools = JoinedTools(self._names, lists)
        return self._tools.offered

    def get_server_index(self, tool: str) -> int:
        """Return the index of the server of ``tool``; 0 for an unknown tool."""
        return self._tools.find_server(tool)[0]

    def replace_session(self, place: int, session: Session) -> JoinedSession:
        """Return this session with ``session`` at the server at ``place``; tools keep names."""
        sessions = [*self._sessions]
        sessions[place] = session
        return JoinedSession(self._names, sessions, self._tools, self._block)

    @property
    def loss_reason(self) -> str | None:
        """Why a server is gone; ``None`` while all are alive."""
        reasons = (session.loss_reason for session in self._sessions)
        return next((why for why in reasons if why is not None), None)

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call to the server that has its tool (see `harness.sessions.Session.call`)."""
        if request.tool in self._block:
            why = explain_block(request.tool)
            return build_unanswered_call(request, "blocked", why, reply=reply, epoch=epoch)
        place, own = self._tools.find_server(request.tool)
        asked = replace(request, tool=own)
        made = await self._sessions[place].call(asked, reply=reply, epoch=epoch)
        return replace(made, tool=request.tool)

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request to the servers in turn, and return the first result; lists are joined."""
        if method in _LISTS:
            return {_LISTS[method]: await self._list_entries(method, _LISTS[method])}
        # Only tools are renamed: a resource or a prompt does not say which server has it.
        errors: list[ServerError] = []
        for session in self._sessions:
            try:
                return await session.send_request(method, params)
            except ServerError as error:
                errors.append(error)
        raise _merge_errors(errors)

    async def _list_entries(self, method: str, key: str) -> list[JsonObject]:
        """Return the entries of a list from all servers; tools have their names in this session."""
        joined: list[JsonObject] = []
        for place, session in enumerate(self._sessions):
            params: JsonObject = {}
            for _ in range(_PAGES):
                try:
                    page = await session.send_request(method, params)
                except RequestRefused:
                    break  # a server need not support every list
                items = page.get(key)
                for item in items if isinstance(items, list) else ():
                    own = item.get("name") if method == "tools/list" else None
                    called = self._tools.get_offered_name(place, own)
                    joined.append(item if called is None else {**item, "name": called})
                cursor = get_next_cursor(page)
                if cursor is None:
                    break
                params = {"cursor": cursor}
        return joined

    @property
    def introduction(self) -> Introduction:
        """The descriptions of all servers, each under its name."""
        said = [session.introduction for session in self._sessions]
        each = dict(zip(self._names, said, strict=True))
        told = [f"{name}: {one.instructions}" for name, one in each.items() if one.instructions]
        return Introduction(
            name=", ".join(self._names),
            instructions="\n\n".join(told) or None,
            capabilities={
                kind: one.capabilities[kind] for one in each.values() for kind in one.capabilities
            },
            subscribes=any(one.subscribes for one in each.values()),
        )

    @asynccontextmanager
    async def forward_messages(self, foreign_client: ForeignClient) -> AsyncGenerator[None]:
        """Forward the messages of all servers (see `harness.sessions.Session.forward_messages`)."""
        async with AsyncExitStack() as all_of_them:
            for session in self._sessions:
                await all_of_them.enter_async_context(session.forward_messages(foreign_client))
            yield

    async def watch(self) -> tuple[SideContent, ...]:
        """Watch the sessions of all servers (see `harness.sessions.Session.watch`)."""
        shown: list[SideContent] = []
        for name, part in zip(self._names, self._sessions, strict=True):
            shown += [replace(one, place=f"{one.place} of {name}") for one in await part.watch()]
        return tuple(shown)

    def stderr_tail(self) -> str:
        """Return the stderr tails of all servers that wrote anything."""
        parts = zip(self._names, self._sessions, strict=True)
        tails = ((name, part.stderr_tail()) for name, part in parts)
        return "\n".join(f"── {name}\n{tail}" for name, tail in tails if tail)


def _merge_errors(errors: Sequence[ServerError]) -> ServerError:
    """Return the errors of all servers as one: a refusal only if all of them refused."""
    for error in errors:
        # A server that rejects the request as it was written has decided nothing about the caller.
        if isinstance(error, RequestRejected):
            return error
    words = "; ".join(map(str, errors))
    refused = [error for error in errors if isinstance(error, RequestRefused)]
    if len(refused) < len(errors):
        return ServerError(words)
    last = refused[-1]
    return RequestRefused(words, code=last.code, said=words, data=last.data)
