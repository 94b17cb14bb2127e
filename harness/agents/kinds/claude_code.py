"""Claude Code, by ``claude -p``. ``type: claude-code``.

Its own tools are disabled except those that ``tools`` names; the server's tools need no permission.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from harness.agents.agent import Agent, AgentKind, AgentReply, can
from harness.agents.program import filter_texts, parse_json_lines, parse_token_count, run_program
from harness.agents.workplace import Workplace, resolve_agent_command, write_private_json
from harness.base import AgentError
from harness.types import UNKNOWN_USAGE, AgentSpec, JsonObject, Usage

_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "ENABLE_TOOL_SEARCH": "false",  # otherwise tools are deferred, and the model searches for them
    "MCP_CONNECTION_NONBLOCKING": "false",  # otherwise the first request may lack its tools
}
_OURS = "mcp__"
"""Prefix of the names of a server's tools; all others are the agent's own."""


class ClaudeCode:
    """A conversation with Claude Code; further turns resume its session."""

    def __init__(self, spec: AgentSpec, place: Workplace) -> None:
        """Run in ``place``."""
        self._spec = spec
        self._place = place
        self._session: str | None = None

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return its answer to ``prompt``; see `harness.agents.Agent`."""
        command = [*resolve_agent_command(self._spec), *self._iterate_options(fresh=fresh)]
        done = await run_program(command, self._place, prompt)
        lines = list(parse_json_lines(done))
        _check_connected(lines, self._place.server)
        result = next((line for line in reversed(lines) if line.get("type") == "result"), None)
        if result is None:
            raise done.build_error("it gave no result")
        usage = _parse_usage(result)
        if result.get("is_error") or result.get("subtype") != "success":
            words = result.get("result") or ", ".join(filter_texts(result.get("errors")))
            why = words or result.get("subtype")
            raise AgentError(f"{done.name} gave up: {why}", detail=done.stderr, usage=usage)
        self._session = str(result.get("session_id") or "") or self._session
        said: list[JsonObject] = [
            line["message"]
            for line in lines
            if line.get("type") == "assistant" and isinstance(line.get("message"), dict)
        ]
        return AgentReply(
            text=str(result.get("result") or ""),
            usage=usage,
            served_by=next((str(one["model"]) for one in reversed(said) if "model" in one), None),
            refused=result.get("stop_reason") == "refusal",
            own_tools=Counter(_iterate_used_tools(said)),
        )

    def _iterate_options(self, *, fresh: bool) -> Iterator[str]:
        spec, place = self._spec, self._place
        # Claude Code writes a stream of JSON only together with `--verbose`.
        yield from ("-p", "--output-format", "stream-json", "--verbose")
        # Strict: servers of the copied home or folder are not started.
        yield from ("--mcp-config", place.files["mcp_config"], "--strict-mcp-config")
        # An empty list disables all of them.
        yield from ("--tools", ",".join(spec.tools))
        yield from ("--allowedTools", ",".join([f"mcp__{place.server}__*", *spec.tools]))
        if spec.model is not None:
            yield from ("--model", spec.model)
        if place.system is not None:
            yield from ("--append-system-prompt", place.system)
        if spec.settings:
            settings = write_private_json(place.home / "settings.json", spec.settings)
            yield from ("--settings", str(settings))
        if self._session is not None and not fresh:
            yield from ("--resume", self._session)
        yield from spec.args


def _check_connected(lines: list[JsonObject], server: str) -> None:
    """Check that it has the server's tools: without them its answer shows nothing."""
    for line in lines:
        if line.get("subtype") == "init" and isinstance(line.get("mcp_servers"), list):
            listed = [one for one in line["mcp_servers"] if isinstance(one, Mapping)]
            state = {one.get("name"): one.get("status") for one in listed}.get(server)
            if state != "connected":
                raise AgentError(f"it did not connect to the server: {state or 'not listed'}")


def _iterate_used_tools(said: list[JsonObject]) -> Iterator[str]:
    for message in said:
        blocks = message.get("content")
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, Mapping) and block.get("type") == "tool_use":
                name = str(block.get("name"))
                if not name.startswith(_OURS):
                    yield name


def _parse_usage(result: JsonObject) -> Usage:
    used: Any = result.get("usage")
    if not isinstance(used, Mapping):
        return UNKNOWN_USAGE
    cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, read, wrote, out = (
        parse_token_count(used.get(name)) for name in ("input_tokens", *cached, "output_tokens")
    )
    cost = result.get("total_cost_usd")
    return Usage(
        # Anthropic's count leaves out tokens of the cache; ours is of the whole input.
        input_tokens=None if fresh is None else fresh + (read or 0) + (wrote or 0),
        output_tokens=out,
        cache_read_tokens=read,
        cache_write_tokens=wrote,
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
    )


@asynccontextmanager
async def open_agent(spec: AgentSpec, place: Workplace) -> AsyncGenerator[Agent]:
    """Open Claude Code for one trial."""
    place.env.update({name: at for name, at in _ENVIRONMENT.items() if name not in spec.env})
    yield ClaudeCode(spec, place)


KIND = AgentKind(
    opens=open_agent,
    settings=("model", "tools", "settings"),
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    version=("--version",),
    passes=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "IS_SANDBOX"),
    resumes=can,
    takes_system_prompt=can,
)
"""``type: claude-code``."""
