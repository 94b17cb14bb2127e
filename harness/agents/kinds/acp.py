"""Any agent that speaks the Agent Client Protocol over stdio. ``type: acp``.

A trial has one process, a conversation one session. The agent gets neither files nor a terminal.
Its requests for permission are refused, except for calls of the server and for the kinds of tools
that ``tools`` names (``read``, ``edit``, ``execute`` …). A tool of its own that asks for no
permission must be disabled in the agent's configuration.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness.agents.agent import Agent, AgentKind, AgentReply, can
from harness.agents.program import Program, describe_exit_code, launch_program, parse_json_object
from harness.agents.workplace import Workplace, build_shim_entry, resolve_agent_command
from harness.base import AgentError
from harness.types import AgentSpec, JsonObject


class RpcRefusal(Exception):
    """A request of the program that gets an error as its answer."""

    def __init__(self, code: int, message: str) -> None:
        """``code`` and ``message`` are those of the JSON-RPC error."""
        super().__init__(message)
        self.code = code
        self.message = message


class JsonRpcConnection:
    """The connection."""

    def __init__(self, program: Program) -> None:
        """Talk to ``program``."""
        self.name = program.name
        """The program, for messages."""
        self.answers: Callable[[str, JsonObject], JsonObject]
        """Returns the result of a request of the program, or raises `RpcRefusal`; must be set."""
        self.hears: Callable[[str, JsonObject], None]
        """Takes a notification; must be set."""
        self._program = program
        self._buffer = b""
        self._asked = 0

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request and return its result; the program's own requests are answered meanwhile.

        Raises:
            AgentError: the request was refused, the program ended, or its output is not a message.
        """
        self._asked += 1
        self._program.begin_turn()
        await self._send_message({"id": self._asked, "method": method, "params": params})
        while True:
            message = await self._receive_message()
            given = message.get("params")
            told: JsonObject = given if isinstance(given, dict) else {}
            # Asked before the id, because the program numbers its own requests, perhaps as we do.
            if isinstance(message.get("method"), str):
                if "id" in message:
                    await self._answer_request(message["id"], message["method"], told)
                else:
                    self.hears(message["method"], told)
            elif message.get("id") == self._asked:
                return self._get_result(method, message)

    def _get_result(self, method: str, message: JsonObject) -> JsonObject:
        result, error = message.get("result"), message.get("error")
        if isinstance(error, dict):
            more = f" ({json.dumps(error['data'])[:200]})" if error.get("data") else ""
            why, stderr = error.get("message"), self._program.stderr.get_text()
            raise AgentError(f"{self.name} refused {method}: {why}{more}", detail=stderr)
        if not isinstance(result, dict):
            raise AgentError(f"{self.name} answered {method} with no object")
        return result

    async def _answer_request(self, number: Any, method: str, params: JsonObject) -> None:
        try:
            answer: JsonObject = {"result": self.answers(method, params)}
        except RpcRefusal as refused:
            answer = {"error": {"code": refused.code, "message": refused.message}}
        await self._send_message({"id": number, **answer})

    async def _send_message(self, message: JsonObject) -> None:
        await self._program.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def _receive_message(self) -> JsonObject:
        while b"\n" not in self._buffer:
            data = await self._program.read_chunk()
            if not data:
                ended = describe_exit_code(await self._program.wait_exit_code())
                stderr = self._program.stderr.get_text()
                raise AgentError(f"{self.name} {ended} before it answered", detail=stderr)
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        if not line.strip():
            return {}
        said, stderr = line.decode("utf-8", "replace"), self._program.stderr.get_text()
        return parse_json_object(said, self.name, "JSON-RPC message", stderr)


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
