"""Writes a draft to a new file, never over an existing one, and without the server's secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path, PurePath
from urllib.parse import quote

from harness.base import (
    MIN_LENGTH,
    InvalidInput,
    UsageError,
    find_server_secrets,
    format_path,
    guard_stream,
)
from harness.descriptions.drafting.render import SCHEMA_NAME
from harness.judging import VOCABULARY
from harness.models import word_set
from harness.suites import SCHEMA_FILE, list_suite_files, parse_server_command, read_suite
from harness.types import ServerSpec

FOLDER = "evals"
"""Folder of a project's suites."""

_LONGEST = 60
_GENERIC = word_set(
    "index main server __main__ app cli mcp mcp_server mcp-server run start dist build src lib bin"
)
"""Names of files and folders that do not tell which server they contain."""


def suite_name(server: ServerSpec, wanted: str | None = None) -> str:
    """Return a suite's name in plain characters: ``wanted``, or from the command of ``server``.

    Raises:
        UsageError: ``wanted`` has no usable character.
    """
    if wanted is not None:
        name = _plain_name(wanted)
        if not name:
            raise UsageError(
                f"{wanted!r} cannot be the name of a file",
                meant="Use letters, digits, '_' and '-'.",
            )
        return name
    if server.name.lower() not in _GENERIC:
        return _plain_name(server.name) or "first"
    # From the end of each path, which says more than its beginning.
    for word in (server.transport.command or "", *server.transport.args):
        path = PurePath(word)
        if not word.startswith("-") and server.name in path.stem:
            for part in reversed(path.parts):
                if PurePath(part).stem.lower() not in _GENERIC and (name := _plain_name(part)):
                    return name
    return "first"


def require_free(name: str, project: Path) -> Path:
    """Return the path for the suite ``name`` of ``project``.

    Raises:
        UsageError: there is a file or a suite of that name; the message suggests a free name.
    """
    path = project / FOLDER / f"{name}.yml"
    taken = _existing_suite_names(project)
    # A link that leads nowhere exists as well: no file could be created there.
    if name not in taken and not os.path.lexists(path):
        return path
    what = f"there is a suite named {name!r}" if name in taken else f"{format_path(path)} exists"
    others = ((n, f"{name}_{n}") for n in count(2))
    number = next(
        n
        for n, other in others
        if other not in taken and not os.path.lexists(path.with_name(f"{other}.yml"))
    )
    raise UsageError(
        f"{what} already, and nothing is ever overwritten",
        meant=f"Choose another name: --name {name}_{number}",
    )


def write_new(path: Path, text: str) -> tuple[Path, ...]:
    """Write ``text`` to the new file ``path``, and the schema of suites beside it.

    Return the paths of the written files.

    Raises:
        UsageError: the file exists, or it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _create_file(path, text)
    except OSError as error:
        # mkdir fails in the same way if "evals" is a file.
        if isinstance(error, FileExistsError) and os.path.lexists(path):
            raise UsageError(
                f"{format_path(path)} exists already, and nothing is ever overwritten"
            ) from error
        raise UsageError(f"{format_path(path)} cannot be written: {error.strerror}") from error
    return (path, *_write_schema(path))


def _write_schema(path: Path) -> Iterable[Path]:
    """Write the schema with which editors complete suites; keep an existing one."""
    schema = path.with_name(SCHEMA_NAME)
    try:
        _create_file(schema, SCHEMA_FILE.read_text("utf-8"))
    except OSError:
        return ()  # only the suite is essential; without the schema, editors complete nothing
    return (schema,)


def _create_file(path: Path, text: str) -> None:
    # Exclusive, since the file may have come into being after `require_free`.
    with path.open("x", encoding="utf-8", newline="\n") as stream:
        guard_stream(stream).write(text)


def _existing_suite_names(project: Path) -> set[str]:
    """Return the names of the suites of ``project``."""
    names = set()
    for path in list_suite_files(project / FOLDER):
        # By the name in the file, which need not be that of the file.
        try:
            names.add(read_suite(path, VOCABULARY).name)
        except InvalidInput:
            names.add(path.stem)  # the best guess at the name of a broken suite
    return names


def _plain_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")[:_LONGEST]


def replace_secrets(server: ServerSpec) -> tuple[ServerSpec, tuple[str, ...]]:
    """Return ``server`` with secrets replaced by ``${SERVER_SECRET}``, and the variables' names.

    References to variables are kept.
    """
    # The longest first, since one secret may be a part of another.
    names: list[str] = []
    for secret in sorted(set(find_server_secrets([server])), key=len, reverse=True):
        # A reference to a variable is no secret by itself.
        if len(secret) < MIN_LENGTH or "${" in secret:
            continue
        name = "SERVER_SECRET" if not names else f"SERVER_SECRET_{len(names) + 1}"
        args, url = server.transport.args, server.transport.url
        # In a URL it may be escaped.
        for form in (secret, quote(secret, safe="")):
            args = tuple(arg.replace(form, f"${{{name}}}") for arg in args)
            url = url and url.replace(form, f"${{{name}}}")
        changed = replace(server, transport=replace(server.transport, args=args, url=url))
        if changed != server:
            server = changed
            names.append(name)
    return server, tuple(names)


def build_server_entry(text: str, spec: ServerSpec) -> tuple[ServerSpec | str, tuple[str, ...]]:
    """Return ``server:`` of a suite for ``spec``, which ``--server text`` has given.

    A name or a URL is returned unchanged; a command is returned as typed, with variables
    unexpanded. Secrets in the command become variables, whose names are returned too.
    """
    # So marked, it was given as a command line, not configured in a file.
    is_command = spec.at is not None and spec.at.file == "--server"
    return replace_secrets(parse_server_command(text)) if is_command else (text, ())
