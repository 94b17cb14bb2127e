"""Tools of a simulated user, beside those of the model under test, on one server.

One session serves both: the model sees and calls all tools but the user's, the user none but these.
"""

from __future__ import annotations

from collections.abc import Collection

from harness.base import HarnessError
from harness.sessions import Session, SessionWrapper, build_unanswered_call
from harness.types import JsonObject, SimulatedUser, ToolCall, ToolList, ToolRequest


class PartialSession(SessionWrapper):
    """A session with some of the server's tools; the others do not exist for its caller."""

    def __init__(self, session: Session, names: Collection[str]) -> None:
        """Offer the tools ``names`` of ``session``."""
        super().__init__(session)
        self._hidden = {tool.name for tool in session.tools.tools} - set(names)
        self._all = session.tools
        self._tools = self._withhold()

    def _withhold(self) -> ToolList:
        return ToolList(tools=tuple(t for t in self._all.tools if t.name not in self._hidden))

    @property
    def tools(self) -> ToolList:
        """The tools that are offered."""
        return self._tools

    async def refresh_tools(self) -> ToolList:
        """Return the tools as they are now; what comes later is the model's, not the user's."""
        if (now := await super().refresh_tools()) is not self._all:
            self._all = now
            self._tools = self._withhold()
        return self._tools

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call; refuse it in the words of a missing tool if the tool is hidden."""
        if request.tool in self._hidden:
            words = f"Error: Tool '{request.tool}' not found."
            return build_unanswered_call(request, "unknown_tool", words, reply=reply, epoch=epoch)
        return await self._session.call(request, reply=reply, epoch=epoch)

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request; a list of tools comes back without the hidden ones."""
        result = await super().send_request(method, params)
        if method != "tools/list" or not isinstance(result.get("tools"), list):
            return result
        tools = [tool for tool in result["tools"] if tool.get("name") not in self._hidden]
        return {**result, "tools": tools}


class UserToolbox:
    """What a simulated user can do in one conversation, and what they did."""

    def __init__(self, session: Session) -> None:
        """Call the tools of ``session``."""
        self._session = session
        self.calls: list[ToolCall] = []
        """Their calls so far."""
        self.reply = 0
        """The model's replies so far."""
        self.epoch = 0.0
        """When the conversation began."""

    @property
    def tools(self) -> ToolList:
        """The user's own tools."""
        return self._session.tools

    async def call_tool(self, request: ToolRequest) -> ToolCall:
        """Make a call for the user, and record it."""
        made = await self._session.call(request, reply=self.reply, epoch=self.epoch)
        self.calls.append(made)
        return made


def give_toolbox(session: Session, user: SimulatedUser) -> UserToolbox | None:
    """Return the toolbox of ``user``; ``None`` if they have no tools of their own.

    Raises:
        HarnessError: the server does not have such a tool.
    """
    if not user.tools:
        return None
    missing = [name for name in user.tools if session.tools.get(name) is None]
    if missing:
        offered = ", ".join(tool.name for tool in session.tools.tools) or "none"
        wanted = f"the server has no tool {missing[0]!r}, which is to be the simulated user's"
        raise HarnessError(f"{wanted}. It offers: {offered}")
    return UserToolbox(PartialSession(session, user.tools))


def withhold_tools(session: Session, user: SimulatedUser | None) -> Session:
    """Return ``session`` without the tools of ``user``, for the model under test."""
    if user is None or not user.tools:
        return session
    names = {tool.name for tool in session.tools.tools} - set(user.tools)
    return PartialSession(session, names)
