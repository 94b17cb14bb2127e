"""The workplace of an agent in one trial: folders and an environment of its own.

It contains nothing of the user's except what the configuration names, and it is removed afterwards.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from harness.agents.client_config import FILE_VARIABLE, client_files, fill_placeholders, server_name
from harness.agents.stdio_shim import URL_VARIABLE
from harness.agents.temporary_folder import TemporaryFolder
from harness.base import AgentError
from harness.types import AgentSpec

_INHERITED = ("LANG", "LC_ALL", "PATH", "TZ")
# Placeholders and scripts (`sh -c '…'`) name no file, and the system refuses an endless path.
_NAME = re.compile(r"[^{}\n]{1,1000}")
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Folders, environment and server of one trial; made by `open_workplace`."""

    work: Path
    """The working folder, which is empty except for a copy of `AgentSpec.files`."""
    home: Path
    """The home, which is empty except for a copy of `AgentSpec.home`."""
    env: dict[str, str] = field(repr=False)
    """The whole environment; drivers may add to it."""
    url: str = field(repr=False)
    """The address of the server; it gives access to the session."""
    server: str
    """The server's name in an agent's configuration: letters, digits, ``_`` and ``-``."""
    files: dict[str, str]
    """Files with ``mcpServers`` that many clients read, as `client_files` names them."""
    system: str | None
    """The system prompt, if the suite has one."""
    most_bytes: int
    """Bytes that the agent may write on stdout in one turn."""

    def fill_words(self, words: tuple[str, ...], prompt: str) -> list[str]:
        """Return ``words`` with their placeholders replaced; those in values are not."""
        said = {"prompt": prompt, "system_prompt": self.system or ""}
        values = {**self.files, "mcp_url": self.url, **said}
        return [fill_placeholders(word, values) for word in words]


@asynccontextmanager
async def open_workplace(
    spec: AgentSpec, *, url: str, server: str, system: str | None
) -> AsyncGenerator[Workplace]:
    """Make a workplace for one trial, and remove it afterwards with all its content.

    Raises:
        AgentError: the folders that the configuration names cannot be copied.
    """
    # A cancellation while it is made would leave a folder that nobody removes.
    with anyio.CancelScope(shield=True):
        folder = await anyio.to_thread.run_sync(TemporaryFolder)
    try:
        yield await anyio.to_thread.run_sync(
            _prepare_workplace, folder.path, spec, url, server, system
        )
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(folder.remove)


def build_environment(spec: AgentSpec, home: Path, tmp: Path) -> dict[str, str]:
    """Return everything that an agent's environment has, besides the server's address."""
    return {
        "LANG": "C.UTF-8",
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        "HOME": str(home),
        "TMPDIR": str(tmp),
        # The recording proxy is on this machine, and no other one may be asked for it.
        "NO_PROXY": "127.0.0.1,localhost",
        **spec.env,
    }


def resolve_agent_command(spec: AgentSpec) -> tuple[str, ...]:
    """Return the program and its first arguments, with absolute paths for the user's files.

    The agent starts in another folder, in which ``python agent.py`` would not find the file.
    """
    return tuple(str(path) if (path := _find_file(spec, word)) else word for word in spec.command)


def find_command_files(spec: AgentSpec) -> list[Path]:
    """Return the files in the user's folder that the command names."""
    return [path for word in spec.command if (path := _find_file(spec, word))]


def _find_file(spec: AgentSpec, word: str) -> Path | None:
    # A bare word is a program, even where the user's folder has a file of that name.
    is_name = _NAME.fullmatch(word) is not None and ("/" in word or "." in word)
    path = Path(spec.base) / word
    return path.absolute() if is_name and not Path(word).is_absolute() and path.is_file() else None


def _prepare_workplace(
    root: Path, spec: AgentSpec, url: str, server: str, system: str | None
) -> Workplace:
    home, work, tmp = root / "home", root / "work", root / "tmp"
    tmp.mkdir()
    for folder, copied in ((home, spec.home), (work, spec.files)):
        if copied is None:
            folder.mkdir()
            continue
        try:
            shutil.copytree(Path(spec.base) / copied, folder, symlinks=True)
        except (OSError, shutil.Error) as error:
            raise AgentError(f"the folder {copied} cannot be copied: {error}") from error
    # Beside the agent's folders, which have only what the configuration names.
    files = client_files(root, server, url)
    given = {URL_VARIABLE: url, FILE_VARIABLE: files["mcp_config"]}
    return Workplace(
        work=work,
        home=home,
        env={**build_environment(spec, home, tmp), **given},
        url=url,
        server=server_name(server),
        files=files,
        system=system,
        most_bytes=round(spec.max_output_mb * _MEGABYTE),
    )
