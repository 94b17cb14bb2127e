"""Reads MCP servers from a mapping in a file, or from a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from harness.base import (
    KNOWN,
    Field,
    InvalidInput,
    InvalidValue,
    Layout,
    Problem,
    Reading,
    UsageError,
    as_mapping,
    header_problem,
    lines,
)
from harness.suites.config.expansion import UnsetVariable, expand
from harness.suites.config.server_entries import SERVER, read_server
from harness.suites.config.transport_entries import checked_url, transport_of
from harness.types import (
    JsonPath,
    Location,
    ServerSpec,
    TransportSpec,
)


def _rules_by_tool(value: Any) -> dict[str, tuple[str, ...]]:
    return {tool: _RULES.parse(rules) for tool, rules in as_mapping(value).items()}


_RULES = lines("Rules.")
_LINT_IGNORE = Field(
    schema={
        "type": "object",
        "additionalProperties": _RULES.schema,
        "description": (
            "Findings of harness lint to ignore: rules for each tool, or for all under '*'."
        ),
    },
    parse=_rules_by_tool,
)
NAMED_SERVER = Layout(
    fields={**SERVER.fields, "lint_ignore": _LINT_IGNORE},
    elsewhere={**SERVER.elsewhere, "name": "The server's name is the key above this mapping."},
)

_LAUNCHERS = frozenset({"python", "python3", "node", "npx", "bunx", "uvx", "uv", "run", "exec"})
# words of a command line that start a server but do not identify it


def read_named_server(reading: Reading, path: JsonPath, value: Mapping[str, Any]) -> ServerSpec:
    """Return the server in the mapping ``value`` at ``path``; the path's last step is its name.

    References stay unexpanded, and a relative ``cwd`` stays relative; ``reading`` collects
    mistakes.
    """
    name = str(path[-1])
    return read_server(reading, path, value, name, layout=NAMED_SERVER, called=f"server {name!r}")


def starting_in(spec: ServerSpec, base: FilePath, *, by_default: bool) -> ServerSpec:
    """Return ``spec`` with its ``cwd`` resolved against ``base``, which may also be the default.

    A folder that begins with a reference is left unchanged.
    """
    transport = spec.transport
    if transport.cwd is None:
        starts = transport.command is not None or spec.identity.token_command is not None
        return (
            replace(spec, transport=replace(transport, cwd=str(base)))
            if by_default and starts
            else spec
        )
    return (
        spec
        if transport.cwd.startswith("${")
        else replace(
            spec,
            transport=replace(transport, cwd=str(base / FilePath(transport.cwd).expanduser())),
        )
    )


def expand_server(
    spec: ServerSpec,
    environ: Mapping[str, str],
    locate: Callable[[JsonPath], Location] | None = None,
    asked: Mapping[str, str] = MappingProxyType({}),
) -> ServerSpec:
    """Return ``spec`` with all references replaced, ready for use.

    ``locate`` returns the location of a part of the server's mapping; without it, messages have the
    server's own location. ``asked`` is the advice for variables that are not set.

    Raises:
        InvalidInput: variables are not set or references are malformed; all of them at once.
    """
    transport = spec.transport
    problems: list[InvalidValue] = []

    def expanded(value: Any, *path: str) -> Any:
        return expand(value, environ, problems, path)

    ready = replace(
        spec,
        deeds=deeds_of(spec),
        transport=replace(
            transport,
            command=expanded(transport.command, "command"),
            args=expanded(transport.args, "args"),
            env=expanded(transport.env, "env"),
            cwd=expanded(transport.cwd, "cwd"),
            url=expanded(transport.url, "url"),
            headers=expanded(transport.headers, "headers"),
        ),
        queries={
            name: replace(
                query,
                database=expanded(query.database, "queries", name, "database"),
                command=expanded(query.command, "queries", name, "command"),
            )
            for name, query in spec.queries.items()
        },
        identity=replace(
            spec.identity,
            variables=expanded(spec.identity.variables, "identity", "variables"),
            headers=expanded(spec.identity.headers, "identity", "headers"),
            claims=expanded(spec.identity.claims, "identity", "claims"),
            scope=expanded(spec.identity.scope, "identity", "scope"),
            audience=expanded(spec.identity.audience, "identity", "audience"),
            token_command=expanded(spec.identity.token_command, "identity", "token_command"),
        ),
    )
    KNOWN.know(servers=[ready], environ=environ)
    problems += _unusable(ready)
    if problems:
        own = spec.at or Location(file=f"server {spec.name}")
        raise InvalidInput(
            Problem(
                at=locate(problem.path) if locate else own,
                message=f"server {spec.name!r}: {problem.message}",
                meant=asked.get(problem.variable, problem.meant)
                if isinstance(problem, UnsetVariable)
                else problem.meant,
            )
            for problem in problems
        )
    return ready


def joined(members: Sequence[ServerSpec]) -> ServerSpec:
    """Return ``members`` as one server with the tools of all; a single member stays unchanged.

    Raises:
        UsageError: two of them have the same name, so their tools would be indistinguishable.
    """
    if len(members) == 1:
        return members[0]
    names = [member.name for member in members]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(
            f"two of the servers are named {twice!r}",
            meant="Configure them under servers: in harness.yml, under different names.",
        )
    return ServerSpec(name="+".join(names), members=tuple(members))


def deeds_of(spec: ServerSpec) -> tuple[str, ...]:
    """Return in words the commands that ``spec`` runs, and where it sends data."""
    transport = spec.transport
    deeds = []
    if transport.command is not None:
        given = "".join(f" {name}={value}" for name, value in transport.env.items())
        deeds.append(
            "start "
            f"{shlex.join((transport.command, *transport.args))}{f' with{given}' if given else ''}"
        )
    if transport.url is not None and transport.command is None:
        sent = "; ".join(f"{name}: {value}" for name, value in transport.headers.items())
        deeds.append(f"connect to {transport.url}{f' with {sent}' if sent else ''}")
    commands = (spec.identity.token_command, *(query.command for query in spec.queries.values()))
    return (*deeds, *(f"run {command}" for command in commands if command is not None))


def _unusable(spec: ServerSpec) -> Iterator[InvalidValue]:
    """Yield the problems of URL and headers after their references were replaced."""
    transport = spec.transport
    if transport.url is not None and "${" not in transport.url:
        try:
            checked_url(transport.url)
        except InvalidValue as error:
            yield InvalidValue(f"url: {error.message}.", path=("url",), meant=error.meant)
    for name, value in transport.headers.items():
        if problem := header_problem(name, value):
            yield InvalidValue(
                f"the header {name!r} cannot be sent: {problem}.", path=("headers", name)
            )


def server_from_command(command: str) -> ServerSpec:
    """Return the server of a command line, ``python my_server.py --verbose``, or of a URL.

    Raises:
        UsageError: it is empty, or a quotation mark is never closed.
    """
    if "://" in command.partition(" ")[0]:
        return _server_at(command)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"the server's command cannot be read: {error}", meant="Check its quotation marks."
        ) from error
    if not words:
        raise UsageError(
            "the server's command is empty",
            meant='Write, for example, --server "python my_server.py".',
        )
    return ServerSpec(
        name=_name_in(words),
        transport=TransportSpec(command=words[0], args=tuple(words[1:])),
        at=Location(file="--server"),
    )


def _server_at(url: str) -> ServerSpec:
    try:
        checked_url(url)
    except InvalidValue as error:
        raise UsageError(
            f"the server's URL cannot be used: {error.message}", meant=error.meant
        ) from error
    parts = urlsplit(url)
    name = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "server"
    return ServerSpec(
        name=name,
        transport=TransportSpec(kind=transport_of(url), url=url),
        at=Location(file="--server"),
    )


def _name_in(words: list[str]) -> str:
    """Return a name for a server: the script or package that its command runs."""
    telling = (FilePath(word) for word in words if not word.startswith("-"))
    return next(
        (path.stem for path in telling if path.name not in _LAUNCHERS), FilePath(words[0]).name
    )
