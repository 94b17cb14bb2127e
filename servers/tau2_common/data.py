"""The folder with a domain's data: its database, its policy and the schemas of its tools."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..common.errors import CannotStart

_TOOL: Final = frozenset({"name", "description", "parameters"})
"""What is known of each tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainData:
    """What a server is made of."""

    database: Mapping[str, Any]
    """Collection → id → record, as in the file; of telecom, what its two files hold."""
    tools: tuple[Mapping[str, Any], ...]
    """Each tool's name, description and parameters, in the order in which they are listed."""
    policy: str | None
    """What an agent of this domain has to go by, where it is there."""


def default_folder(domain: str, environ: Mapping[str, str]) -> Path:
    """Return where ``harness fetch tau2`` puts the data of a domain."""
    named, base = environ.get("HARNESS_CACHE"), Path(environ.get("XDG_CACHE_HOME") or "")
    usual = base if base.is_absolute() else Path.home() / ".cache"
    root = Path(named).expanduser() if named else usual / "harness"
    return root / "tau2" / domain


def read_text(folder: Path, name: str) -> str:
    """Return a file that must be there.

    Raises:
        CannotStart: it is missing or cannot be read.
    """
    try:
        return (folder / name).read_text("utf-8")
    except FileNotFoundError:
        raise _missing(folder, name) from None
    except (OSError, ValueError) as error:
        raise CannotStart(f"{folder / name} cannot be read: {error}") from error


def read_tools(folder: Path, name: str = "tools.json") -> tuple[Mapping[str, Any], ...]:
    """Return the tools that a file lists.

    Raises:
        CannotStart: it is missing, cannot be read, or is something else.
    """
    tools = _json(folder, name)
    if not isinstance(tools, list) or not all(
        isinstance(tool, dict) and tool.keys() >= _TOOL for tool in tools
    ):
        raise CannotStart(
            f"{name} in {_shown(folder)} is no list of tools, each with {', '.join(sorted(_TOOL))}"
        )
    return tuple(tools)


def read_data(folder: Path) -> DomainData:
    """Read ``db.json`` or ``db.json.gz``, ``tools.json`` and, if it is there, ``policy.md``.

    Raises:
        CannotStart: something is missing, cannot be read, or is something else.
    """
    database = _json(folder, "db.json")
    if not isinstance(database, dict) or not all(
        isinstance(records, dict) for records in database.values()
    ):
        raise CannotStart(
            f"db.json in {_shown(folder)} is no database: it maps each collection to records by "
            "their id"
        )
    policy = folder / "policy.md"
    return DomainData(
        database=database,
        tools=read_tools(folder),
        policy=read_text(folder, policy.name) if policy.is_file() else None,
    )


def _json(folder: Path, name: str) -> Any:
    plain, packed = folder / name, folder / f"{name}.gz"
    try:
        if plain.is_file():
            return json.loads(plain.read_bytes())
        if packed.is_file():
            return json.loads(gzip.decompress(packed.read_bytes()))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise CannotStart(
            f"{plain if plain.is_file() else packed} cannot be read: {error}"
        ) from error
    raise _missing(folder, name)


def _missing(folder: Path, name: str) -> CannotStart:
    return CannotStart(
        f"there is no {name} in {_shown(folder)}: fetch the data of tau2-bench with `harness fetch "
        "tau2`, or name the folder that holds them with --data"
    )


def _shown(folder: Path) -> str:
    home = f"{Path.home()}{os.sep}"
    return f"~/{str(folder).removeprefix(home)}" if str(folder).startswith(home) else str(folder)
