"""How MCP clients write a server, where they differ from Claude's ``mcpServers``.

| client | differs in |
|------------|----------------------------------------------------------------------------|
| Codex | TOML; ``env_vars``, ``http_headers``, ``bearer_token_env_var``, timeouts |
| Copilot | ``type: local`` |
| Gemini CLI | ``httpUrl``, references such as ``$NAME`` |
| opencode | ``command`` is a list, ``environment``, references such as ``{env:NAME}`` |
| Windsurf | ``serverUrl`` |
| Zed | ``command`` may be a mapping with ``path``, ``args`` and ``env`` |
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, Problem
from harness.types import JsonObject, Location

SECTIONS = ("mcpServers", "servers", "mcp_servers", "context_servers", "mcp")
"""Keys of the servers, by name: of most clients, VS Code, Codex, Zed and opencode."""

_RENAMED = {
    "environment": "env",
    "serverUrl": "url",
    "httpUrl": "url",
    "http_headers": "headers",
    "startup_timeout_sec": "start_timeout",
    "tool_timeout_sec": "call_timeout",
}
_WITHOUT_MEANING = ("local", "remote")
"""Words for a server's ``type`` that its ``command`` or ``url`` says as well."""
_OPENCODE = re.compile(r"(?<!\$)\{env:([^}]+)\}")
_BARE = re.compile(r"\$([A-Za-z_]\w*)")


def read_toml(text: str, file: str) -> str:
    """Return TOML as JSON, each server on the line of its header.

    Raises:
        InvalidInput: it is not TOML.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = Location(file=file)
        raise InvalidInput([Problem(at=at, message=f"this is not TOML: {error}.")]) from error
    servers = content.get("mcp_servers")
    if not isinstance(servers, dict):
        return json.dumps(content, default=str)
    lines = {name: _find_header(text, name) for name in servers}
    written = '{"mcp_servers": {'
    for place, name in enumerate(sorted(servers, key=lines.__getitem__)):
        written += "," if place else ""
        written += "\n" * (lines[name] - written.count("\n"))
        written += f"{json.dumps(name)}: {json.dumps(servers[name], default=str)}"
    return written + "}}"


def _find_header(text: str, name: str) -> int:
    """Return the line of a server's table, from 0; 0 if it is written otherwise."""
    forms = "|".join(map(re.escape, (name, f'"{name}"', f"'{name}'")))
    header = re.search(rf"^[ \t]*\[mcp_servers\.(?:{forms})[\].]", text, re.MULTILINE)
    return text.count("\n", 0, header.start()) if header else 0


def translate_entry(value: JsonObject, section: str, path: Path) -> dict[str, Any]:
    """Return a server of a client with the keys of Claude's ``mcpServers``.

    It stands under ``section`` in the file ``path``.

    What has not the form that its client gives it stays as it is, for its reader to refuse.
    """
    # First what has the usual name: of two that mean the same it counts.
    known = {_RENAMED[key]: part for key, part in value.items() if key in _RENAMED} | {
        key: part for key, part in value.items() if key not in _RENAMED
    }
    if "httpUrl" in value and "url" not in value:
        known.setdefault("type", "http")
    command = value.get("command")
    if isinstance(command, list) and command and section == "mcp":
        known["command"], known["args"] = command[0], [*command[1:], *value.get("args", ())]
    elif isinstance(command, dict) and "path" in command:
        known |= {"command": command["path"]}
        known |= {key: command[key] for key in ("args", "env") if command.get(key)}
    if known.get("type") in _WITHOUT_MEANING:
        del known["type"]
    _add_references(known, value)
    return {key: _translate_references(part, path) for key, part in known.items()}


def _add_references(known: dict[str, Any], value: JsonObject) -> None:
    """Add what Codex takes from variables that its file only names."""
    names = value.get("env_vars")
    if isinstance(names, list):
        passed = {name: f"${{{name}}}" for name in names if isinstance(name, str)}
        known["env"] = passed | known.get("env", {})
    headers: dict[str, str] = {}
    if isinstance(variable := value.get("bearer_token_env_var"), str):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    if isinstance(named := value.get("env_http_headers"), Mapping):
        headers |= {name: f"${{{variable}}}" for name, variable in named.items()}
    if headers:
        known["headers"] = headers | known.get("headers", {})


def _translate_references(value: Any, path: Path) -> Any:
    if isinstance(value, str):
        written = _OPENCODE.sub(r"${\1}", value)
        return _BARE.sub(r"${\1}", written) if path.parent.name == ".gemini" else written
    if isinstance(value, dict):
        return {key: _translate_references(part, path) for key, part in value.items()}
    if isinstance(value, list):
        return [_translate_references(part, path) for part in value]
    return value
