"""Servers from where people have them: the configuration of an MCP client.

| file                                     | its servers stand under |
|------------------------------------------|-------------------------|
| ``.mcp.json``, Claude Desktop, Cursor …  | ``mcpServers``          |
| VS Code (``.vscode/mcp.json``)           | ``servers``             |

Keys that only mean something to the client are left alone. References are ours (``${NAME}``,
``${NAME:-text}``) and those of VS Code:

| written              | becomes                                                                 |
|----------------------|-------------------------------------------------------------------------|
| ``${env:NAME}``      | the variable ``NAME``                                                   |
| ``${input:api-key}`` | the variable ``API_KEY``, since nobody is there to be asked             |
| ``${workspaceFolder}`` | the folder of the file, or the one above if the file is in ``.vscode`` |
| ``${userHome}``      | the variable ``HOME``                                                   |
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from harness.config.files import ConfigFile, ServerEntry, located_below
from harness.config.server_entries import SERVER
from harness.config.servers import read_named_server, starting_in
from harness.documents.document import Document, read_document
from harness.documents.fields import found
from harness.documents.json_comments import without_comments
from harness.documents.reading import Reading
from harness.errors import InvalidInput, Problem
from harness.types import Location

_SECTIONS = ("mcpServers", "servers")
_OURS = ("command", "args", "env", "cwd", "type", "transport", "url", "headers")
_REFERENCE = re.compile(r"\$\{(?:(?P<kind>env|input):(?P<name>[^}]+)|(?P<folder>workspaceFolder|userHome))\}")


def read_client_config(path: FilePath) -> ConfigFile:
    """Return the servers of an MCP client's configuration.

    Raises:
        InvalidInput: with every mistake in it, or because it has no servers.
    """
    if not path.is_file():
        raise InvalidInput([Problem(at=Location(file=str(path)), message="there is no such file.")])
    document = read_document(path, without_comments)
    content = document.value if isinstance(document.value, dict) else {}
    section = next((key for key in _SECTIONS if isinstance(content.get(key), dict)), None)
    reading = Reading(document)
    if section is None:
        meant = f"Servers stand under {' or '.join(map(repr, _SECTIONS))}."
        reading.problem(Location(file=document.file), "this is no configuration of an MCP client.", meant)
        reading.finish()
    assert section is not None
    workspace = path.absolute().parent
    workspace = workspace.parent if workspace.name == ".vscode" else workspace
    servers = {
        name: entry
        for name, value in content[section].items()
        if (entry := _server(reading, document, (section, name), value, workspace)) is not None
    }
    reading.finish()
    return ConfigFile(file=document.file, servers=servers)


def _server(
    reading: Reading, document: Document, path: tuple[str, str], value: Any, workspace: FilePath
) -> ServerEntry | None:
    if not isinstance(value, dict):
        reading.problem(document.at(path), f"server {path[1]!r}: expected a mapping, found {found(value)}.")
        return None
    if value.get("disabled") is True:
        return None
    known = {key: _ours(part, workspace) for key, part in value.items() if key in _OURS and key in SERVER.fields}
    spec = read_named_server(reading, path, known)
    return ServerEntry(
        spec=starting_in(spec, workspace, by_default=True), locate=partial(located_below, document, path)
    )


def _ours(value: Any, workspace: FilePath) -> Any:
    """Return ``value`` with the references of VS Code written as ours."""
    if isinstance(value, str):
        return _REFERENCE.sub(partial(_reference, workspace), value)
    if isinstance(value, dict):
        return {key: _ours(part, workspace) for key, part in value.items()}
    return [_ours(part, workspace) for part in value] if isinstance(value, list) else value


def _reference(workspace: FilePath, match: re.Match[str]) -> str:
    if match["folder"]:
        return str(workspace) if match["folder"] == "workspaceFolder" else "${HOME}"
    name = match["name"].strip()
    return f"${{{name if match['kind'] == 'env' else input_variable(name)}}}"


def input_variable(name: str) -> str:
    """Return the environment variable that stands for an input of that name: ``api-key`` → ``API_KEY``."""
    return re.sub(r"\W", "_", name).upper()
