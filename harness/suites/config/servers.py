"""Reads MCP servers from a mapping in a file, or from a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from harness.base import (
    KNOWN,
    DocumentReader,
    InvalidValue,
    Layout,
    UsageError,
    build_field,
    header_problem,
    lines_field,
    parse_entries,
)
from harness.sessions import delivery_of
from harness.suites.config.expansion import UnsetVariable, build_setting_error, expand_references
from harness.suites.config.server_entries import SERVER, read_server
from harness.suites.config.transport_entries import check_url, choose_transport
from harness.types import JsonObject, JsonPath, Location, ServerSpec, TransportSpec

_RULES = lines_field("Rules.")
_LINT_IGNORE = build_field(
    "Findings of harness lint to ignore: rules for each tool, or for all under '*'.",
    {"type": "object", "additionalProperties": _RULES.schema},
    partial(parse_entries, _RULES.parse),
)
NAMED_SERVER = Layout(
    fields={**SERVER.fields, "lint_ignore": _LINT_IGNORE},
    elsewhere={**SERVER.elsewhere, "name": "The server's name is the key above this mapping."},
)

_EXPANDED = ("command", "args", "env", "cwd", "url", "headers")
"""Fields of a transport that may have references."""
_LAUNCHERS = frozenset({"python", "python3", "node", "npx", "bunx", "uvx", "uv", "run", "exec"})
# words of a command line that start a server but do not identify it


def read_named_server(reading: DocumentReader, path: JsonPath, value: JsonObject) -> ServerSpec:
    """Return the server in the mapping ``value`` at ``path``; the path's last step is its name.

    References stay unexpanded, and a relative ``cwd`` stays relative; ``reading`` collects
    mistakes.
    """
    name = str(path[-1])
    return read_server(reading, path, value, name, layout=NAMED_SERVER, called=f"server {name!r}")


def resolve_cwd(spec: ServerSpec, base: FilePath, *, by_default: bool) -> ServerSpec:
    """Return ``spec`` with its ``cwd`` resolved against ``base``, which may also be the default.

    A folder that begins with a reference is left unchanged.
    """
    cwd = spec.transport.cwd
    # A command that fetches a token runs there, too, also for a server that runs already.
    starts = spec.transport.command is not None or bool(delivery_of(spec.identity).commands)
    # Whether it is relative is known only when the variable is.
    if cwd.startswith("${") if cwd is not None else not (by_default and starts):
        return spec
    folder = base / FilePath(cwd or "").expanduser()
    return replace(spec, transport=replace(spec.transport, cwd=str(folder)))


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

    def expand_value(value: Any, *path: str) -> Any:
        return expand_references(value, environ, problems, path)

    ready = replace(
        spec,
        # Of the unexpanded form: it is shown to people, and names variables in place of secrets.
        deeds=describe_actions(spec),
        transport=replace(
            transport, **{name: expand_value(getattr(transport, name), name) for name in _EXPANDED}
        ),
        queries={
            name: replace(
                query,
                database=expand_value(query.database, "queries", name, "database"),
                command=expand_value(query.command, "queries", name, "command"),
            )
            for name, query in spec.queries.items()
        },
        identity=replace(
            spec.identity,
            settings=expand_value(spec.identity.settings, "identity"),
            plain=expand_value(spec.identity.plain, "identity"),
        ),
    )
    # Before any message is made of the values.
    KNOWN.add_specs(servers=[ready], environ=environ)
    # Once more after expansion: a variable may hold anything.
    problems += _find_url_problems(ready)
    if problems:
        for problem in problems:
            if isinstance(problem, UnsetVariable):
                problem.meant = asked.get(problem.variable, problem.meant)
        own = spec.at or Location(file=f"server {spec.name}")
        raise build_setting_error(f"server {spec.name!r}", problems, locate or (lambda _: own))
    return ready


def join_servers(members: Sequence[ServerSpec]) -> ServerSpec:
    """Return ``members`` as one server with the tools of all; a single member stays unchanged.

    Raises:
        UsageError: two of them have the same name, so their tools would be indistinguishable.
    """
    if len(members) == 1:
        return members[0]
    names = [member.name for member in members]
    if twice := next((name for name in names if names.count(name) > 1), None):
        meant = "Configure them under servers: in harness.yml, under different names."
        raise UsageError(f"two of the servers are named {twice!r}", meant=meant)
    return ServerSpec(name="+".join(names), members=tuple(members))


def describe_actions(spec: ServerSpec) -> tuple[str, ...]:
    """Return in words the commands that ``spec`` runs, and where it sends data."""
    transport = spec.transport
    deeds = []
    if transport.command is not None:
        given = "".join(f" {name}={value}" for name, value in transport.env.items())
        words = shlex.join((transport.command, *transport.args))
        deeds.append(f"start {words}{f' with{given}' if given else ''}")
    # A server that is started here is no connection to elsewhere.
    if transport.url is not None and transport.command is None:
        sent = "; ".join(f"{name}: {value}" for name, value in transport.headers.items())
        deeds.append(f"connect to {transport.url}{f' with {sent}' if sent else ''}")
    queries = (query.command for query in spec.queries.values())
    commands = (*delivery_of(spec.identity).commands, *queries)
    return (*deeds, *(f"run {command}" for command in commands if command is not None))


def _find_url_problems(spec: ServerSpec) -> Iterator[InvalidValue]:
    """Yield the problems of URL and headers after their references were replaced."""
    transport = spec.transport
    # One with a reference left has a problem already.
    if transport.url is not None and "${" not in transport.url:
        try:
            check_url(transport.url)
        except InvalidValue as error:
            yield InvalidValue(f"url: {error.message}.", path=("url",), meant=error.meant)
    for name, value in transport.headers.items():
        if problem := header_problem(name, value):
            message = f"the header {name!r} cannot be sent: {problem}."
            yield InvalidValue(message, path=("headers", name))


def parse_server_command(command: str) -> ServerSpec:
    """Return the server of a command line, ``python my_server.py --verbose``, or of a URL.

    Raises:
        UsageError: it is empty, or a quotation mark is never closed.
    """
    # In the first word alone: a URL may be an argument of a command.
    if "://" in command.partition(" ")[0]:
        return _build_url_server(command)
    try:
        words = shlex.split(command)
    except ValueError as error:
        meant = "Check its quotation marks."
        raise UsageError(f"the server's command cannot be read: {error}", meant=meant) from error
    if not words:
        meant = 'Write, for example, --server "python my_server.py".'
        raise UsageError("the server's command is empty", meant=meant)
    # Named after the script or package that it runs.
    telling = (FilePath(word) for word in words if not word.startswith("-"))
    named = (path.stem for path in telling if path.name not in _LAUNCHERS)
    return ServerSpec(
        name=next(named, FilePath(words[0]).name),
        transport=TransportSpec(command=words[0], args=tuple(words[1:])),
        at=Location(file="--server"),
    )


def _build_url_server(url: str) -> ServerSpec:
    try:
        check_url(url)
    except InvalidValue as error:
        message = f"the server's URL cannot be used: {error.message}"
        raise UsageError(message, meant=error.meant) from error
    parts = urlsplit(url)
    return ServerSpec(
        name=f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "server",
        transport=TransportSpec(kind=choose_transport(url), url=url),
        at=Location(file="--server"),
    )
