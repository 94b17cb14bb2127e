"""Codex, by ``codex exec``. ``type: codex``.

``settings`` are those of its ``config.toml``. Its own tools are disabled except those that
``tools`` names: ``shell``, ``view_image``, ``web_search``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import tomli_w

from harness.agents.agent import Agent, AgentKind, AgentReply, can
from harness.agents.program import parse_json_lines, parse_token_count, run_program
from harness.agents.workplace import Workplace, resolve_agent_command
from harness.base import AgentError
from harness.types import UNKNOWN_USAGE, AgentSpec, JsonObject

_FEATURES = {"shell": "shell_tool", "view_image": "view_image"}
"""Name of its own tool → the feature that enables it."""
_OWN_ITEMS = {
    "collab_tool_call": "agents",
    "command_execution": "shell",
    "file_change": "apply_patch",
    "image_view": "view_image",
    "web_search": "web_search",
}
"""Kind of an item in its stream → its own tool."""
_START_S = 120
_NOTHING = (0, 0, 0)


class Codex:
    """A conversation with Codex; further turns resume its thread."""

    def __init__(self, spec: AgentSpec, place: Workplace) -> None:
        """Run in ``place``, which has its configuration."""
        self._spec = spec
        self._place = place
        self._thread: str | None = None
        self._used: tuple[int | None, ...] = _NOTHING

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return its answer to ``prompt``; see `harness.agents.Agent`."""
        resumed = self._thread if not fresh else None
        # The folder of a trial is no git repository, outside of which Codex refuses to run.
        options = ("--json", "--skip-git-repo-check", *self._spec.args)
        words = ["resume", *options, resumed] if resumed else options
        command = [*resolve_agent_command(self._spec), "exec", *words, "-"]
        done = await run_program(command, self._place, prompt)
        lines = list(parse_json_lines(done))
        failed = [why for line in lines if (why := _find_failure(line)) is not None]
        completed = next((line for line in lines if line.get("type") == "turn.completed"), None)
        if completed is None:
            raise done.build_error(failed[-1] if failed else "it completed no turn")
        started = (line.get("thread_id") for line in lines if line.get("type") == "thread.started")
        self._thread = next((str(one) for one in started if one), self._thread)
        items = [
            line["item"]
            for line in lines
            if line.get("type") == "item.completed" and isinstance(line.get("item"), dict)
        ]
        answers = [str(item.get("text") or "") for item in items if item["type"] == "agent_message"]
        used = (_OWN_ITEMS[item["type"]] for item in items if item["type"] in _OWN_ITEMS)
        # A resumed thread reports the usage of all its turns.
        before = self._used if resumed else _NOTHING
        self._used = _parse_counts(completed.get("usage"))
        tokens_in, tokens_out, cached = map(_subtract_counts, self._used, before)
        return AgentReply(
            text=answers[-1] if answers else "",
            usage=replace(
                UNKNOWN_USAGE,
                input_tokens=tokens_in,
                output_tokens=tokens_out,
                cache_read_tokens=cached,
            ),
            own_tools=Counter(used),
        )


def _subtract_counts(total: int | None, before: int | None) -> int | None:
    if total is None or before is None or total < before:
        return None
    return total - before


def _find_failure(line: JsonObject) -> str | None:
    if line.get("type") == "turn.failed" and isinstance(line.get("error"), Mapping):
        return str(line["error"].get("message"))
    return str(line.get("message")) if line.get("type") == "error" else None


def _parse_counts(used: Any) -> tuple[int | None, ...]:
    """Return the tokens of a thread: input, output, and those of the input from the cache."""
    known = used if isinstance(used, Mapping) else {}
    names = ("input_tokens", "output_tokens", "cached_input_tokens")
    return tuple(parse_token_count(known.get(name)) for name in names)


def build_configuration(spec: AgentSpec, place: Workplace) -> JsonObject:
    """Return its ``config.toml``: ours, with the user's settings added."""
    given = spec.settings
    features = {feature: name in spec.tools for name, feature in _FEATURES.items()}
    return {
        "web_search": "live" if "web_search" in spec.tools else "disabled",
        # Nobody is there to be asked.
        "approval_policy": "never",
        "sandbox_mode": "workspace-write" if "shell" in spec.tools else "read-only",
        **({"model": spec.model} if spec.model is not None else {}),
        **({"developer_instructions": place.system} if place.system is not None else {}),
        **given,
        "features": {"goals": False, **features, **_get_mapping(given, "features")},
        "agents": {"enabled": False, **_get_mapping(given, "agents")},
        # Behind the user's settings, so that these add no other server.
        "mcp_servers": {
            place.server: {
                "url": place.url,
                "required": True,  # otherwise the first request may be sent without its tools
                "startup_timeout_sec": _START_S,
                "default_tools_approval_mode": "approve",  # otherwise tools that write are refused
            }
        },
    }


def _get_mapping(settings: JsonObject, name: str) -> JsonObject:
    value = settings.get(name)
    return value if isinstance(value, dict) else {}


@asynccontextmanager
async def open_agent(spec: AgentSpec, place: Workplace) -> AsyncGenerator[Agent]:
    """Open Codex for one trial."""
    folder = place.home / ".codex"
    folder.mkdir(exist_ok=True)
    file = folder / "config.toml"
    # The mode comes first: the file gives access to the session.
    file.touch(0o600)
    _refuse_null(spec.settings)
    file.write_text(tomli_w.dumps(build_configuration(spec, place)), encoding="utf-8")
    place.env["CODEX_HOME"] = str(folder)
    yield Codex(spec, place)


def _refuse_null(value: Any, name: str = "") -> None:
    """Raise `AgentError` if a part of ``value`` is null, which TOML cannot say."""
    if value is None:
        raise AgentError(f"settings: {name}: TOML has no form of null")
    if isinstance(value, Mapping):
        for key, part in value.items():
            _refuse_null(part, key)
    elif isinstance(value, list | tuple):
        for part in value:
            _refuse_null(part, name)


KIND = AgentKind(
    opens=open_agent,
    settings=("model", "tools", "settings"),
    program="codex",
    install="npm install -g @openai/codex",
    version=("--version",),
    passes=("CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    resumes=can,
    takes_system_prompt=can,
)
"""``type: codex``."""
