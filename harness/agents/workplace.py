"""The workplace of an agent in one trial: folders and an environment of its own.

It contains nothing of the user's except what the configuration names, and it is removed afterwards.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Self

import anyio
import anyio.to_thread

from harness.agents.stdio_shim import URL_VARIABLE
from harness.base import AgentError
from harness.types import AgentSpec, JsonObject, dataclass

FILE_VARIABLE = "HARNESS_MCP_CONFIG"
"""The variable with the path of ``{mcp_config}``; `URL_VARIABLE` has the address."""
_SHIM = "harness.agents.stdio_shim"
_PLACEHOLDER = re.compile(r"\{(mcp_url|mcp_config|mcp_config_stdio|prompt|system_prompt)\}")


def server_name(name: str) -> str:
    """Return ``name`` in the form of configurations: letters, digits, ``_`` and ``-``."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name) or "server"


def build_shim_entry(url: str) -> JsonObject:
    """Return command, arguments and variables of a process that passes stdio on to ``url``."""
    # `-I`, so that neither the client's folder nor its PYTHONPATH replaces a module of the shim.
    return {"command": sys.executable, "args": ["-I", "-m", _SHIM], "env": {URL_VARIABLE: url}}


def client_files(folder: Path, server: str, url: str) -> dict[str, str]:
    """Write files with ``mcpServers`` for the proxy at ``url``; return placeholder → path.

    The files give access to the session, so only their owner may read them.
    """
    entries: Mapping[str, JsonObject] = {
        "mcp_config": {"type": "http", "url": url},
        "mcp_config_stdio": {"type": "stdio", **build_shim_entry(url)},
    }
    files = {}
    for name, entry in entries.items():
        content = {"mcpServers": {server_name(server): entry}}
        files[name] = str(write_private_json(folder / f"{name}.json", content))
    return files


def write_private_json(path: Path, value: JsonObject) -> Path:
    """Write ``value`` as JSON to ``path``, readable by its owner only; return the path."""
    # The mode comes first: before a later `chmod`, others could read the content.
    path.touch(0o600)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def fill_placeholders(word: str, values: Mapping[str, str]) -> str:
    """Return ``word`` with the placeholders of ``values`` replaced, once.

    Placeholders within values are not replaced, and a placeholder without a value stays.
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word)


_PREFIX = "harness-agent-"
_LOCK = ".owner.lock"
_NEW = ".owner.new"


class TemporaryFolder:
    """A new folder that is this process's own until `remove`.

    The process that makes a folder holds a lock on a file in it. The system frees the lock when
    that process ends in any way, so a folder whose lock is free has no owner. A process id would
    not do: the system gives it to another process.
    """

    def __init__(self) -> None:
        """Make the folder, and remove those of processes that have ended."""
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        new = self.path / _NEW
        self._lock = os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        # Without locks, as on some network file systems, nobody can tell whose the folder is.
        with suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(self.path / _LOCK)  # only now: nobody finds it unlocked

    def remove(self) -> None:
        """Remove the folder with all its content."""
        try:
            _remove_folder(self.path)
        finally:
            os.close(self._lock)

    def __enter__(self) -> Self:
        """Return the folder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        self.remove()


def remove_abandoned() -> None:
    """Remove the folders of this user's processes that have ended.

    Others may make any name in the folder for temporary files, so only a real folder counts that
    belongs to this user and has a lock which nobody holds.
    """
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # neither a link nor a pipe that waits
    lock = os.open(folder / _LOCK, flags)
    try:
        if stat.S_ISREG(os.fstat(lock).st_mode):
            # Raises `OSError` if the owner still holds it; the caller goes on with the next folder.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_folder(folder)
    finally:
        os.close(lock)


def _remove_folder(root: Path) -> None:
    """Remove ``root``, its lock last: what a second kill leaves is found again."""

    def retry_unlocked(again: Callable[[str], Any], path: str, _error: object) -> None:
        """Retry what failed: a folder may have been made unreadable or read-only."""
        with suppress(OSError):
            Path(path).parent.chmod(stat.S_IRWXU)
            if Path(path).is_dir() and not Path(path).is_symlink():
                Path(path).chmod(stat.S_IRWXU)
                shutil.rmtree(path, ignore_errors=True)
            else:  # its own mode does not matter, and that of what it links to is not ours
                again(path)

    with suppress(OSError):
        root.chmod(stat.S_IRWXU)
        for child in [*root.iterdir()]:
            if child.is_dir() and not child.is_symlink():
                # `onerror`, because Python 3.11 has no `onexc`.
                shutil.rmtree(child, onerror=retry_unlocked)
            elif child.name != _LOCK:
                child.unlink()
    shutil.rmtree(root, onerror=retry_unlocked)


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
        yield await anyio.to_thread.run_sync(_make_place, folder.path, spec, url, server, system)
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


def _make_place(
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
