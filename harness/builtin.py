"""The suites and servers that come with the project: in a checkout or in an installed copy."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.errors import UsageError, did_you_mean
from harness.types import ServerSpec

_PACKAGE = Path(__file__).resolve().parent
_NOT_SERVERS = frozenset({"common"})  # what servers share is no server itself


def builtin_root() -> Path:
    """Return the folder that holds ``evals`` and ``servers``.

    An installed copy carries its own inside the package; in a checkout they stand beside it. The
    inner one comes first, because a folder next to an installed package belongs to somebody else.
    """
    installed = _PACKAGE / "_builtin"
    return installed if installed.is_dir() else _PACKAGE.parent


def builtin_suites() -> Path:
    """Return the folder of the project's own suites."""
    return builtin_root() / "evals"


def builtin_servers() -> tuple[str, ...]:
    """Return the names of the project's own servers, in alphabetical order."""
    mains = (builtin_root() / "servers").glob("*/__main__.py")
    return tuple(sorted({main.parent.name for main in mains} - _NOT_SERVERS))


def builtin_server(name: str) -> ServerSpec:
    """Return the project's own server of that name, run by this very interpreter.

    Raises:
        UsageError: there is none.
    """
    names = builtin_servers()
    if name not in names:
        raise UsageError(
            f"there is no built-in server named {name!r}",
            meant=did_you_mean(name, names) or f"Built in: {', '.join(names) or 'none'}.",
        )
    return ServerSpec(name=name, command=sys.executable, args=("-m", f"servers.{name}"), cwd=str(builtin_root()))
