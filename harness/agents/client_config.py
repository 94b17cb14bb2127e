"""How a program finds its server: an address, and files that MCP clients read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.agents.stdio_shim import URL_VARIABLE
from harness.types import JsonObject

FILE_VARIABLE = "HARNESS_MCP_CONFIG"
"""The variable with the path of ``{mcp_config}``; `URL_VARIABLE` has the address."""
_SHIM = "harness.agents.stdio_shim"
_PLACEHOLDER = re.compile(r"\{(mcp_url|mcp_config|mcp_config_stdio|prompt|system_prompt)\}")


def server_name(name: str) -> str:
    """Return ``name`` in the form of configurations: letters, digits, ``_`` and ``-``."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "server"


def build_shim_entry(url: str) -> JsonObject:
    """Return command, arguments and variables of a process that passes stdio on to ``url``."""
    # `-I`, so that neither the client's folder nor its PYTHONPATH replaces a module of the shim.
    return {"command": sys.executable, "args": ["-I", "-m", _SHIM], "env": {URL_VARIABLE: url}}


def client_files(folder: Path, server: str, url: str) -> dict[str, str]:
    """Write files with ``mcpServers`` for the proxy at ``url``; return placeholder → path.

    The files give access to the session, so only their owner may read them.
    """
    entries: Mapping[str, JsonObject] = {
        "mcp_config": {"type": "http", "url": url},
        "mcp_config_stdio": {"type": "stdio", **build_shim_entry(url)},
    }
    files = {}
    for name, entry in entries.items():
        content = {"mcpServers": {server_name(server): entry}}
        files[name] = str(write_private_json(folder / f"{name}.json", content))
    return files


def write_private_json(path: Path, value: JsonObject) -> Path:
    """Write ``value`` as JSON to ``path``, readable by its owner only; return the path."""
    # The mode comes first: before a later `chmod`, others could read the content.
    path.touch(0o600)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def fill_placeholders(word: str, values: Mapping[str, str]) -> str:
    """Return ``word`` with the placeholders of ``values`` replaced, once.

    Placeholders within values are not replaced, and a placeholder without a value stays.
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word)
