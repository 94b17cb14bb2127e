"""Writes a draft to a new file, never over an existing one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path, PurePath

from harness.base import InvalidInput, UsageError, format_path, guard_stream
from harness.descriptions.drafting.render import SCHEMA_NAME
from harness.judging import VOCABULARY
from harness.models import word_set
from harness.suites import SCHEMA_FILE, list_suite_files, read_suite
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
    words = [
        word
        for word in (server.transport.command or "", *server.transport.args)
        if not word.startswith("-")
    ]
    # From the end of each path, which says more than its beginning.
    telling = (
        part
        for word in words
        for part in reversed(PurePath(word).parts)
        if server.name in PurePath(word).stem
    )
    return next(
        (
            _plain_name(part)
            for part in telling
            if PurePath(part).stem.lower() not in _GENERIC and _plain_name(part)
        ),
        "first",
    )


def require_free(name: str, project: Path) -> Path:
    """Return the path for the suite ``name`` of ``project``.

    Raises:
        UsageError: there is a file or a suite of that name; the message suggests a free name.
    """
    path = project / FOLDER / f"{name}.yml"
    taken = _existing_suite_names(project)
    # exists() is false for a link that leads nowhere, and yet no file could be created there.
    if name not in taken and not path.exists() and not path.is_symlink():
        return path
    what = f"there is a suite named {name!r}" if name in taken else f"{format_path(path)} exists"
    number = next(n for n in range(2, len(taken) + 3) if _is_free(f"{name}_{n}", project, taken))
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


def _is_free(name: str, project: Path, taken: set[str]) -> bool:
    path = project / FOLDER / f"{name}.yml"
    return name not in taken and not path.exists()


def _plain_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")[:_LONGEST]
