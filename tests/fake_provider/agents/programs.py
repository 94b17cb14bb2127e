"""The programs: what is installed, what each needs to know, and how its output reads."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from servers.common.identity import USER_CONTEXT_VARIABLE

ROOT = Path(__file__).parents[3]
NODE_MODULES = Path(
    os.environ.get("HARNESS_STRANGERS") or ROOT / "tests" / "strangers" / "node_modules"
)
MODEL_OF = {"claude": "claude-sonnet-5", "codex": "gpt-5.2", "opencode": "gpt-4o"}
SERVER = [sys.executable, "-m", "servers.data_governance"]
SERVER_ENV = {
    "PYTHONPATH": str(ROOT),
    USER_CONTEXT_VARIABLE: '{"role": "admin", "permissions": []}',
}
PATIENT_S = 300.0
"""Bound of one run, which takes seconds on a machine that is not busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a program told about its run, in neutral words."""

    answer: str
    called: list[str]
    """Names of the tools, as the program gives them."""
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One agent: how it is installed, configured, started and read."""

    name: str
    package: str
    finish: str | None
    """The script below `NODE_MODULES` that puts the program in its place; npm may not run it."""
    tool: str
    """What it calls ``get_customer_details`` of a server that is configured as ``crm``."""
    reported: str
    """The same in its output."""
    cost_usd: float | None
    """What it says that 2200 tokens in and 100 out cost; ``None`` where it says nothing."""
    configure: Callable[[Path, str], dict[str, str]]
    """Writes its files below a folder, given the provider's URL; returns its environment."""
    arguments: Callable[[Path, str], list[str]]
    """Its command line after its name, given that folder and the prompt."""
    read: Callable[[list[Any]], Said]
    """What its stream of JSON lines says."""

    def find(self) -> Path:
        """Return its executable; skip the test where it is not installed."""
        found = NODE_MODULES / ".bin" / self.name
        if not found.exists() or not shutil.which("node"):
            install = f"npm install --no-save --prefix {NODE_MODULES.parent} {self.package}"
            finish = f" && node {NODE_MODULES / self.finish}" if self.finish else ""
            pytest.skip(f"{self.name} is not installed: {install}{finish}")
        return found

    def run(self, folder: Path, url: str, prompt: str) -> list[Any]:
        """Run it in a folder and a home of its own, and return the JSON lines of its stdout."""
        program = self.find()
        home, work = folder / "home", folder / "work"
        for made in (home, work):
            made.mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), **self.configure(folder, url)}
        started = subprocess.Popen(
            [program, *self.arguments(folder, prompt)],
            cwd=work,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, problems = started.communicate(timeout=PATIENT_S)
        finally:
            _end_group(started)
        assert started.returncode == 0, f"{out}\n{problems}"
        return [json.loads(line) for line in out.splitlines()]


def _end_group(started: subprocess.Popen[str]) -> None:
    try:
        os.killpg(started.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    started.wait(PATIENT_S)


# ── Claude Code: the Messages API ────────────────────────────────────────────────────────────


def _configure_claude(folder: Path, url: str) -> dict[str, str]:
    server = {"type": "stdio", "command": SERVER[0], "args": SERVER[1:], "env": SERVER_ENV}
    _write_json(folder / "mcp.json", {"mcpServers": {"crm": server}})
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "test-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "ENABLE_TOOL_SEARCH": "false",
        "IS_SANDBOX": "1",
        "MCP_CONNECTION_NONBLOCKING": "false",
    }


def _claude_arguments(folder: Path, prompt: str) -> list[str]:
    return [
        *("-p", prompt, "--model", MODEL_OF["claude"]),
        *("--mcp-config", str(folder / "mcp.json"), "--strict-mcp-config"),
        *("--tools", "", "--allowedTools", "mcp__crm__*"),
        *("--output-format", "stream-json", "--verbose"),
    ]


def _read_claude(lines: list[Any]) -> Said:
    (result,) = (line for line in lines if line["type"] == "result")
    blocks = [
        block
        for line in lines
        if line["type"] == "assistant"
        for block in line["message"]["content"]
    ]
    usage = result["usage"]
    return Said(
        answer=result["result"],
        called=[block["name"] for block in blocks if block["type"] == "tool_use"],
        tokens_in=usage["input_tokens"]
        + usage["cache_read_input_tokens"]
        + usage["cache_creation_input_tokens"],
        tokens_out=usage["output_tokens"],
        cost_usd=result["total_cost_usd"],
    )


# ── Codex: the Responses API ─────────────────────────────────────────────────────────────────


def _configure_codex(folder: Path, url: str) -> dict[str, str]:
    home = folder / "home" / ".codex"
    home.mkdir()
    lines = [
        f'model = "{MODEL_OF["codex"]}"',
        'model_provider = "loopback"',
        'web_search = "disabled"',
        "[features]",
        *(f"{name} = false" for name in ("goals", "shell_tool", "view_image")),
        "[agents]",
        "enabled = false",
        "[model_providers.loopback]",
        'name = "loopback"',
        f'base_url = "{url}/v1"',
        'env_key = "LOOPBACK_KEY"',
        'wire_api = "responses"',
        "[mcp_servers.crm]",
        "required = true",  # else the first request may go out without its tools
        f"command = {json.dumps(SERVER[0])}",
        f"args = {json.dumps(SERVER[1:])}",
        "startup_timeout_sec = 120",
        'default_tools_approval_mode = "approve"',  # else every tool that writes is refused
        "[mcp_servers.crm.env]",
        *(f"{name} = {json.dumps(value)}" for name, value in SERVER_ENV.items()),
    ]
    (home / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    return {"CODEX_HOME": str(home), "LOOPBACK_KEY": "test-key"}


def _codex_arguments(folder: Path, prompt: str) -> list[str]:
    return ["exec", "--json", "--skip-git-repo-check", prompt]


def _read_codex(lines: list[Any]) -> Said:
    items = [line["item"] for line in lines if line["type"] == "item.completed"]
    usage = next(line["usage"] for line in lines if line["type"] == "turn.completed")
    return Said(
        answer=[item["text"] for item in items if item["type"] == "agent_message"][-1],
        called=[
            f"{item['server']}.{item['tool']}" for item in items if item["type"] == "mcp_tool_call"
        ],
        tokens_in=usage["input_tokens"],
        tokens_out=usage["output_tokens"],
        cost_usd=None,
    )


# ── opencode: Chat Completions ───────────────────────────────────────────────────────────────


def _configure_opencode(folder: Path, url: str) -> dict[str, str]:
    model = MODEL_OF["opencode"]
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "test-key"},
        "models": {model: {"name": model, "tool_call": True, "cost": {"input": 2, "output": 8}}},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"loopback/{model}",
        "small_model": f"loopback/{model}",
        "provider": {"loopback": provider},
        "mcp": {"crm": {"type": "local", "command": SERVER, "environment": SERVER_ENV}},
        "tools": {"*": False, "crm_*": True},
    }
    _write_json(folder / "work" / "opencode.json", config)
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "npm_config_offline": "true",
    }


def _opencode_arguments(folder: Path, prompt: str) -> list[str]:
    return ["run", "--format", "json", prompt]


def _read_opencode(lines: list[Any]) -> Said:
    parts: Mapping[str, list[Any]] = {
        kind: [line["part"] for line in lines if line["type"] == kind]
        for kind in ("text", "tool_use", "step_finish")
    }
    tokens = [part["tokens"] for part in parts["step_finish"]]
    return Said(
        answer=parts["text"][-1]["text"],
        called=[part["tool"] for part in parts["tool_use"]],
        tokens_in=sum(count["input"] + count["cache"]["read"] for count in tokens),
        tokens_out=sum(count["output"] + count["reasoning"] for count in tokens),
        cost_usd=sum(part["cost"] for part in parts["step_finish"]),
    )


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


PROGRAMS = (
    Program(
        name="claude",
        package="@anthropic-ai/claude-code@2.1.197",
        finish="@anthropic-ai/claude-code/install.cjs",
        cost_usd=(2200 * 3 + 100 * 15) / 1e6,
        tool="mcp__crm__get_customer_details",
        reported="mcp__crm__get_customer_details",
        configure=_configure_claude,
        arguments=_claude_arguments,
        read=_read_claude,
    ),
    Program(
        name="codex",
        package="@openai/codex@0.169.0",
        finish=None,
        cost_usd=None,
        tool="mcp__crm.get_customer_details",
        reported="crm.get_customer_details",
        configure=_configure_codex,
        arguments=_codex_arguments,
        read=_read_codex,
    ),
    Program(
        name="opencode",
        package="opencode-ai@1.18.33",
        finish="opencode-ai/postinstall.mjs",
        cost_usd=(2200 * 2 + 100 * 8) / 1e6,
        tool="crm_get_customer_details",
        reported="crm_get_customer_details",
        configure=_configure_opencode,
        arguments=_opencode_arguments,
        read=_read_opencode,
    ),
)
