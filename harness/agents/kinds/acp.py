"""Any agent that speaks the Agent Client Protocol over stdio. ``type: acp``.

A trial has one process, a conversation one session. The agent gets neither files nor a terminal.
Its requests for permission are refused, except for calls of the server and for the kinds of tools
that ``tools`` names (``read``, ``edit``, ``execute`` …). A tool of its own that asks for no
permission must be disabled in the agent's configuration.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness.agents.agent import Agent, AgentKind, AgentReply, can
from harness.agents.client_config import build_shim_entry
from harness.agents.json_rpc import JsonRpcConnection, RpcRefusal
from harness.agents.program import launch_program
from harness.agents.workplace import Workplace, resolve_agent_command
from harness.base import AgentError
from harness.types import AgentSpec, JsonObject

_REVISION = 1
_OWN_KINDS = frozenset({"delete", "edit", "execute", "fetch", "move", "read", "search"})
"""Kinds of tools that a server's call never has; those are ``other``."""
# The narrower first: a lasting grant might cover a later tool that is not allowed.
_GRANT, _DENY = ("allow_once", "allow_always"), ("reject_once", "reject_always")
_METHOD_NOT_FOUND = -32601


class AcpAgent:
    """A conversation with an agent that speaks ACP."""

    def __init__(self, spec: AgentSpec, place: Workplace, lines: JsonRpcConnection) -> None:
        """Speak over ``lines``."""
        self._spec = spec
        self._place = place
        self._lines = lines
        lines.answers, lines.hears = self._answer_request, self._handle_notification
        self._session: str | None = None
        self._server: JsonObject | None = None
        self._said: list[str] = []

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return its answer to ``prompt``; see `harness.agents.Agent`."""
        if self._session is None or fresh:
            self._session = await self._open_session()
        self._said.clear()
        content = [{"type": "text", "text": prompt}]
        asked = {"sessionId": self._session, "prompt": content}
        done = await self._lines.request("session/prompt", asked)
        why = done.get("stopReason")
        if why not in ("end_turn", "refusal"):
            raise AgentError(f"{self._lines.name} ended its turn early: {why}")
        # The usage stays unknown: agents report that of their last step, not of the turn.
        return AgentReply(text="".join(self._said).strip(), refused=why == "refusal")

    async def _open_session(self) -> str:
        if self._server is None:
            can_do = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
            asked = {"protocolVersion": _REVISION, "clientCapabilities": can_do}
            told = await self._lines.request("initialize", asked)
            self._server = _describe_server(self._place, http=_supports_http(told))
        asked = {"cwd": str(self._place.work), "mcpServers": [self._server]}
        opened = await self._lines.request("session/new", asked)
        if not isinstance(opened.get("sessionId"), str):
            raise AgentError(f"{self._lines.name} opened a session without an id")
        return str(opened["sessionId"])

    def _answer_request(self, method: str, params: JsonObject) -> JsonObject:
        """Return the answer to a request of the agent."""
        if method != "session/request_permission":
            raise RpcRefusal(_METHOD_NOT_FOUND, "this client offers neither files nor a terminal")
        call = params.get("toolCall")
        kind = call.get("kind") if isinstance(call, Mapping) else None
        granted = kind not in _OWN_KINDS or kind in self._spec.tools
        options = params.get("options")
        found = {
            one.get("kind"): one.get("optionId")
            for one in (options if isinstance(options, list) else ())
            if isinstance(one, Mapping)
        }
        wanted = _GRANT if granted else _DENY
        chosen = next((found[one] for one in wanted if found.get(one)), None)
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    def _handle_notification(self, method: str, params: JsonObject) -> None:
        """Handle a notification: the agent's text, of which the last part is its answer."""
        # A session that was left may still have something to say.
        if method != "session/update" or params.get("sessionId") != self._session:
            return
        match params.get("update"):
            # Text before a call announces it; the answer comes after the last one.
            case {"sessionUpdate": "tool_call"}:
                self._said.clear()
            case {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"} as content}:
                self._said.append(str(content.get("text") or ""))


def _supports_http(told: JsonObject) -> bool:
    step: Any = told
    for key in ("agentCapabilities", "mcpCapabilities", "http"):
        step = step.get(key) if isinstance(step, Mapping) else None
    return step is True


def _describe_server(place: Workplace, *, http: bool) -> JsonObject:
    """Return the server for an agent: over HTTP if it can, else as a process, which all support."""
    if http:
        return {"type": "http", "name": place.server, "url": place.url, "headers": []}
    process = build_shim_entry(place.url)
    env = [{"name": name, "value": value} for name, value in process["env"].items()]
    return {"name": place.server, **process, "env": env}


@asynccontextmanager
async def open_agent(spec: AgentSpec, place: Workplace) -> AsyncGenerator[Agent]:
    """Start the agent for one trial."""
    async with launch_program([*resolve_agent_command(spec), *spec.args], place) as program:
        yield AcpAgent(spec, place, JsonRpcConnection(program))


KIND = AgentKind(opens=open_agent, settings=("command", "tools"), needs=("command",), resumes=can)
"""``type: acp``."""
