"""Servers from the configuration of an MCP client.

| file | key of its servers |
|------------------------------------------|-------------------------|
| ``.mcp.json``, Claude Desktop, Cursor …  | ``mcpServers``          |
| VS Code (``.vscode/mcp.json``)           | ``servers``             |
| Codex (``config.toml``)                  | ``mcp_servers``         |
| Zed (``settings.json``)                  | ``context_servers``     |
| opencode (``opencode.json``)             | ``mcp``                 |

Keys that only concern the client are ignored. References may have the form of harness (``${NAME}``,
``${NAME:-text}``) or of VS Code:

| written              | becomes                                                                 |
|----------------------|-------------------------------------------------------------------------|
| ``${env:NAME}``      | the variable ``NAME``                                                   |
| ``${input:api-key}`` | the variable ``API_KEY``, since nobody is there to be asked; else the    |
|                      | default that stands under ``inputs``                                    |
| ``${workspaceFolder}`` | the folder of the file, or the one above if the file is in ``.vscode`` |
| ``${userHome}``      | the variable ``HOME``                                                   |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from harness.base import (
    KNOWN,
    Document,
    DocumentReader,
    InvalidInput,
    InvalidValue,
    Problem,
    describe_value,
    format_path,
    read_document,
    read_env_file,
    require_json,
    without_comments,
)
from harness.suites.config.client_dialects import SECTIONS, read_toml, translate_entry
from harness.suites.config.expansion import expand_references
from harness.suites.config.files import ConfigFile, ServerEntry, locate_below
from harness.suites.config.server_entries import SERVER
from harness.suites.config.servers import read_named_server, resolve_cwd
from harness.types import JsonObject, JsonPath, Location, ServerSpec, dataclass

_USUAL = (
    ".mcp.json",
    "mcp.json",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    "claude_desktop_config.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".zed/settings.json",
    "opencode.json",
    "opencode.jsonc",
    ".copilot/mcp-config.json",
    "mcp_config.json",
)
_OURS = (
    *("command", "args", "env", "cwd", "type", "transport", "url", "headers", "protocol"),
    *("start_timeout", "call_timeout"),
)
_REFERENCE = re.compile(
    r"\$\{(?:(?P<kind>env|input):(?P<name>[^}]+)|(?P<folder>workspaceFolder|userHome))\}"
)


def read_client_config(path: FilePath) -> ConfigFile:
    """Return the servers of an MCP client's configuration.

    Raises:
        InvalidInput: it has mistakes, all of which are named, or no servers.
    """
    if not path.is_file():
        raise InvalidInput([_build_no_file(path)])
    # JSON of clients has comments, which are blanked so that lines and columns stay.
    document = read_document(path, partial(_prepare_text, path))
    content = document.value if isinstance(document.value, dict) else {}
    given = [key for key in SECTIONS if key in content]
    section = next(
        (key for key in given if isinstance(content[key], dict)), given[0] if given else ""
    )
    servers = content.get(section)
    reading = DocumentReader(document)
    if not section:
        meant = f"Servers are written under {' or '.join(map(repr, SECTIONS))}."
        message = "this is not a configuration of an MCP client."
        at = Location(file=document.file)
        reading.problems.append(Problem(at=at, message=message, meant=meant))
    elif not isinstance(servers, dict) or not servers:
        message = f"there are no servers under {section!r}."
        if servers:
            message = f"{section}: expected the servers by name, found {describe_value(servers)}."
        reading.add_key_problem((section,), message, 'Add one: {"NAME": {"command": …}}.')
    if not isinstance(servers, dict):
        reading.finish()
    assert isinstance(servers, dict)
    workspace = path.absolute().parent
    # VS Code means the folder that was opened.
    workspace = workspace.parent if workspace.name == ".vscode" else workspace
    listed = content.get("inputs")
    # The values that VS Code prompts for, by id.
    inputs = {
        one["id"]: one
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get("id"), str)
    }
    client = _ClientConfigReader(reading, document, section, workspace, inputs)
    entries = {name: client.read_server(name, value) for name, value in servers.items()}
    reading.finish()
    return ConfigFile(
        file=document.file,
        servers={name: entry for name, entry in entries.items() if entry is not None},
        disabled={
            name: document.locate_key((section, name))
            for name, entry in entries.items()
            if entry is None
        },
    )


def _prepare_text(path: FilePath, text: str) -> str:
    """Return the text of ``path`` as YAML, of which JSON is a part; no line is moved."""
    if path.suffix.lower() == ".toml":
        return read_toml(text, format_path(path))
    if path.suffix.lower() in {".yml", ".yaml"}:
        return text
    return require_json(without_comments(text), format_path(path))


def add_env_file(entry: ServerEntry, ready: ServerSpec, environ: Mapping[str, str]) -> ServerSpec:
    """Return ``ready``, made from ``entry``, with the variables of its ``envFile`` added.

    Its own variables take precedence.

    Raises:
        InvalidInput: the file cannot be read, or is not a file of variables.
    """
    if entry.env_file is None:
        return ready
    problems: list[InvalidValue] = []
    path = FilePath(expand_references(entry.env_file, environ, problems)).expanduser()
    at = entry.locate(("envFile",))
    if problems or not path.is_file():
        why = problems[0].message if problems else f"there is no file {format_path(path)}."
        raise InvalidInput([Problem(at=at, message=f"server {ready.name!r}: envFile: {why}")])
    told = replace(
        ready,
        # Read when the server is used: a file of another server stands in nobody's way.
        transport=replace(ready.transport, env={**read_env_file(path), **ready.transport.env}),
    )
    KNOWN.add_specs(servers=[told], environ=environ)
    return told


def _build_no_file(path: FilePath) -> Problem:
    at = Location(file=format_path(path))
    if not path.is_dir():
        return Problem(at=at, message="there is no such file.")
    inside = [path / name for name in _USUAL if (path / name).is_file()]
    meant = f"Did you mean {format_path(inside[0])!r}?" if inside else "Name the file in it."
    message = "this is a folder, not a configuration of an MCP client."
    return Problem(at=at, message=message, meant=meant)


@dataclass(frozen=True, slots=True)
class _ClientConfigReader:
    """A client configuration while its servers are read."""

    reading: DocumentReader
    document: Document
    section: str
    workspace: FilePath
    inputs: Mapping[str, JsonObject]

    def read_server(self, name: str, value: Any) -> ServerEntry | None:
        """Return a server; ``None`` if it is disabled or cannot be a server."""
        path = (self.section, name)
        if not isinstance(value, dict):
            message = f"server {name!r}: expected a mapping, found {describe_value(value)}."
            self.reading.add_problem(path, message)
            return None
        # Clients write either key.
        if value.get("disabled") is True or value.get("enabled") is False:
            return None
        asked: dict[str, str] = {}
        known = {
            key: self._translate_value(part, asked)
            for key, part in translate_entry(
                value, self.section, FilePath(self.document.file)
            ).items()
            # Other keys are the client's own, and no mistakes.
            if key in _OURS and key in SERVER.fields
        }
        spec = read_named_server(self.reading, path, known)
        return ServerEntry(
            spec=resolve_cwd(spec, self.workspace, by_default=True),
            locate=partial(locate_below, self.document, path),
            env_file=self._read_env_file(path, value, spec, asked),
            asked=asked,
            hidden={
                variable: str(told.get("default") or "")
                for name, told in self.inputs.items()
                if told.get("password") is True and (variable := input_variable(name)) in asked
            },
        )

    def _read_env_file(
        self, path: JsonPath, value: JsonObject, spec: ServerSpec, asked: dict[str, str]
    ) -> str | None:
        written = value.get("envFile")
        if written is None:
            return None
        at, noun = (*path, "envFile"), f"server {path[-1]!r}"
        if not isinstance(written, str):
            message = f"{noun}: envFile: expected a path, found {describe_value(written)}."
            self.reading.add_problem(at, message)
        elif spec.transport.command is None:
            meant = "Write what it needs under 'headers:'."
            self.reading.add_problem(at, f"{noun}: envFile is for a server that is started.", meant)
        else:
            named = str(self._translate_value(written, asked))
            # Where the reference leads is not known yet.
            return named if named.startswith(("${", "~")) else str(self.workspace / named)
        return None

    def _translate_value(self, value: Any, asked: dict[str, str]) -> Any:
        """Return ``value`` with VS Code's references translated; ``asked`` gets prompted inputs."""
        if isinstance(value, str):
            return _REFERENCE.sub(partial(self._translate_reference, asked), value)
        if isinstance(value, dict):
            return {key: self._translate_value(part, asked) for key, part in value.items()}
        if isinstance(value, list):
            return [self._translate_value(part, asked) for part in value]
        return value

    def _translate_reference(self, asked: dict[str, str], match: re.Match[str]) -> str:
        if match["folder"]:
            return str(self.workspace) if match["folder"] == "workspaceFolder" else "${HOME}"
        name = match["name"].strip()
        if match["kind"] == "env":
            # In the form of harness, which is replaced only when the server is used.
            return f"${{{name}}}"
        variable, told = input_variable(name), self.inputs.get(name, {})
        default, description = told.get("default"), told.get("description")
        one_line = " ".join(description.split()) if isinstance(description, str) else ""
        about = f" ({one_line})" if one_line else ""
        asked[variable] = (
            f"The client would prompt for the input {name!r}{about}. harness cannot prompt: set "
            f"the variable instead, export {variable}=…"
        )
        # A default with such signs could not be written in a reference.
        plain = isinstance(default, str) and default and not set(default) & set("{}$")
        return f"${{{variable}:-{default}}}" if plain else f"${{{variable}}}"


def input_variable(name: str) -> str:
    """Return the environment variable for an input of that name: ``api-key`` → ``API_KEY``."""
    return re.sub(r"\W", "_", name).upper()
