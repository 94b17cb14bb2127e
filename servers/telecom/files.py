"""The files of the domain: two databases in TOML, the tools of both sides, and the policy."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ..common.errors import CannotStart
from ..tau2_common.data import DomainData, read_text, read_tools


def read_telecom(folder: Path) -> DomainData:
    """Read everything that the server is made of.

    Raises:
        CannotStart: something is missing, cannot be read, or is something else.
    """
    return DomainData(
        database={
            "accounts": _parse_toml(folder, "db.toml"),
            **_parse_toml(folder, "user_db.toml"),
        },
        tools=(*read_tools(folder), *read_tools(folder, "user_tools.json")),
        policy=read_text(folder, "main_policy.md"),
    )


def _parse_toml(folder: Path, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(folder, name))
    except tomllib.TOMLDecodeError as error:
        raise CannotStart(f"{folder / name} is not TOML: {error}") from error
