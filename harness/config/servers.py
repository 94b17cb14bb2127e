"""MCP servers as people write them: a mapping in a file, or a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from harness.config.expansion import Path, expand
from harness.config.server_entries import SERVER, read_server
from harness.documents.fields import Layout
from harness.documents.reading import Reading
from harness.errors import InvalidInput, InvalidValue, Problem, UsageError
from harness.types import Location, ServerSpec

_LAYOUT = Layout(
    fields=SERVER.fields, elsewhere={**SERVER.elsewhere, "name": "The server's name is the key above this mapping."}
)

_LAUNCHERS = frozenset({"python", "python3", "node", "npx", "bunx", "uvx", "uv", "run", "exec"})
# Words of a command line that say how a server is started, and not which one.


def read_named_server(reading: Reading, path: Path, value: Mapping[str, Any]) -> ServerSpec:
    """Return the server that the mapping ``value`` at ``path`` describes, under the last step's name.

    References stay as they are, and so does a relative ``cwd``; mistakes are kept by ``reading``.
    """
    name = str(path[-1])
    return read_server(reading, path, value, name, layout=_LAYOUT, called=f"server {name!r}")


def starting_in(spec: ServerSpec, base: FilePath, *, by_default: bool) -> ServerSpec:
    """Return ``spec`` with its ``cwd`` counted from ``base``, which is also the default where that is asked for.

    A folder that begins with a reference stands for itself.
    """
    if spec.cwd is None:
        return replace(spec, cwd=str(base)) if by_default else spec
    return spec if spec.cwd.startswith("${") else replace(spec, cwd=str(base / FilePath(spec.cwd).expanduser()))


def expand_server(
    spec: ServerSpec, environ: Mapping[str, str], locate: Callable[[Path], Location] | None = None
) -> ServerSpec:
    """Return ``spec`` ready to start, the references in its command, env, cwd and identity replaced.

    ``locate`` gives the place of a part of the server's mapping; without it, messages point at
    the server's own place.

    Raises:
        InvalidInput: variables are not set, or references malformed; all of them at once.
    """
    problems: list[InvalidValue] = []

    def expanded(value: Any, *path: str) -> Any:
        return expand(value, environ, problems, path)

    ready = replace(
        spec,
        command=expanded(spec.command, "command"),
        args=expanded(spec.args, "args"),
        env=expanded(spec.env, "env"),
        cwd=expanded(spec.cwd, "cwd"),
        identity=replace(
            spec.identity,
            variables=expanded(spec.identity.variables, "identity", "variables"),
            headers=expanded(spec.identity.headers, "identity", "headers"),
        ),
    )
    if problems:
        own = spec.at or Location(file=f"server {spec.name}")
        raise InvalidInput(
            Problem(
                at=locate(problem.path) if locate else own,
                message=f"server {spec.name!r}: {problem.message}",
                meant=problem.meant,
            )
            for problem in problems
        )
    return ready


def server_from_command(command: str) -> ServerSpec:
    """Return the server that a command line starts: ``python my_server.py --verbose``.

    Raises:
        UsageError: it is empty, or a quotation mark is never closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the server's command cannot be read: {error}", meant="Check its quotation marks.") from error
    if not words:
        raise UsageError("the server's command is empty", meant='Write, for example, --server "python my_server.py".')
    return ServerSpec(name=_name_in(words), command=words[0], args=tuple(words[1:]), at=Location(file="--server"))


def _name_in(words: list[str]) -> str:
    """Name a server by the script or package that its command runs."""
    telling = (FilePath(word) for word in words if not word.startswith("-"))
    return next((path.stem for path in telling if path.name not in _LAUNCHERS), FilePath(words[0]).name)
