"""``harness fetch agentdojo``: the package and what it needs, in an environment of their own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from harness.base import (
    FetchedData,
    FetchRequest,
    NothingToRun,
    Progress,
    UsageError,
    cache_root,
    compute_sha256,
    install_packages,
    read_stamp,
    replace_folder,
)
from harness.leaderboards.agentdojo.official import OLDER_FOLDER
from harness.leaderboards.agentdojo.process import OfficialProcess
from harness.types import dataclass

NAME: Final = "agentdojo"
"""Name of the leaderboard, and of its folder in the cache."""
RELEASE: Final = "0.1.35"
PACKAGES: Final = "packages"
"""Folder of the installed packages."""
_CONTENTS: Final = "contents.json"
LOCKS: Final = tuple(Path(__file__).with_name(name) for name in ("packages.lock", "older.lock"))
"""The package and the smallest set of others with which its environments, tools, tasks and attacks
can be imported, with versions and hashes; and its older release, which judges the logs that it or
one before it wrote."""


@dataclass(frozen=True, slots=True)
class AgentDojoSource:
    """The package; satisfies `harness.base.fetching.Source`."""

    title: str = f"AgentDojo {RELEASE}: banking, slack, travel and workspace"
    licence: str = "MIT, by its authors; https://github.com/ethz-spylab/agentdojo"

    def fetch(self, request: FetchRequest, progress: Progress) -> FetchedData:
        """Install it into the cache (see `harness.base.fetching.Source.fetch`)."""
        if request.categories or request.limit is not None:
            raise UsageError(
                "AgentDojo is one package, of which no part can be fetched",
                meant="Leave out --category and --limit; a run selects suites and tasks.",
            )
        if request.origin is not None and not request.origin.is_dir():
            raise UsageError(
                f"{request.origin} is not a folder",
                meant="Name a folder with the wheels of the packages.",
            )
        folder, noted = request.root / NAME, _describe_environment()
        if read_stamp(folder) == noted:
            return FetchedData(folder=folder, summary=_format_summary(folder), new=False)
        with replace_folder(folder, noted) as fresh:
            packages = fresh / PACKAGES
            for lock, place in zip(LOCKS, (packages, packages / OLDER_FOLDER), strict=True):
                install_packages(lock, place, request.origin, progress)
            progress("verifying", 0, 0)
            # Also the proof that the package works here.
            with OfficialProcess(fresh / PACKAGES) as official:
                contents = official.ask("contents", {})
            (fresh / _CONTENTS).write_text(json.dumps(contents, indent=1) + "\n", "utf-8")
        return FetchedData(folder=folder, summary=_format_summary(folder))


AGENTDOJO_SOURCE = AgentDojoSource()


def find_packages() -> Path:
    """Return the folder of the installed packages.

    Raises:
        NothingToRun: they were not fetched, or for another Python or release.
    """
    folder = cache_root() / NAME
    noted = read_stamp(folder)
    command = f"harness fetch {NAME}"
    if noted is None:
        raise NothingToRun(f"AgentDojo was not fetched. Fetch it: {command}")
    if noted != _describe_environment():
        raise NothingToRun(
            f"AgentDojo was fetched for another Python or by another harness. Fetch it: {command}"
        )
    return folder / PACKAGES


def read_contents() -> dict[str, Any]:
    """Return what the package has: ``versions``, ``attacks`` and its ``system_prompt``.

    Raises:
        NothingToRun: it was not fetched.
        UsageError: the file is damaged.
    """
    path = find_packages().parent / _CONTENTS
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        meant = f"Remove {path.parent} and fetch it again: harness fetch {NAME}"
        raise UsageError(f"{path} cannot be read: {error}", meant=meant) from error
    return found


def _describe_environment() -> dict[str, Any]:
    """Return the stamp: compiled packages work only with the Python that they are made for."""
    python = f"{sys.implementation.cache_tag} {sys.platform}"
    locks = [compute_sha256(lock) for lock in LOCKS]
    return {"release": RELEASE, "packages": locks, "python": python}


def _format_summary(folder: Path) -> str:
    contents = json.loads((folder / _CONTENTS).read_text("utf-8"))
    versions = list(contents["versions"])
    suites = contents["versions"][versions[-1]].values()
    users, goals = (
        sum(len(one[key]) for one in suites) for key in ("user_tasks", "injection_tasks")
    )
    return (
        f"{users} user tasks and {goals} injection tasks in {len(suites)} suites, versions "
        f"{versions[0]} to {versions[-1]}, {len(contents['attacks'])} attacks"
    )
