"""Determines the owner of a folder from the file system and git, without running anything.

A file is not the user's own if: known from:

- it, its folder or its project's belongs to another user of the machine: the owner; root's count as
  one's own
- its project was cloned, and nothing was committed in the clone: the first and the other lines of
  git's reflog
- it was downloaded directly: the attribute in which browsers store the address

A project is the git repository around the file, else the file's folder. Files of harness itself and
the user's own configuration are the user's own. An archive that the user unpacked leaves no trace.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.base.builtin import builtin_root

_ORIGINS = ("user.xdg.origin.url", "user.com.apple.metadata:kMDItemWhereFroms")
_MOST_BYTES = 1_000_000
"""Bytes of a reflog that are read: its first line and usually the first commit fit."""


def find_project(file: Path) -> Path:
    """Return the folder for which trust is stored: the repository of ``file``, else its folder."""
    folder = file.resolve().parent
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def why_not_own(file: Path, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return why ``file`` is not the user's own; ``None`` if it is, or if it does not exist."""
    path = file.resolve()
    if not path.exists() or _is_ours(path, environ):
        return None
    project = find_project(path)
    return (
        _find_other_owner(path, project, environ)
        or _find_clone_origin(project)
        or _find_download_mark(path)
    )


def _is_ours(path: Path, environ: Mapping[str, str]) -> bool:
    """Whether the file is part of harness or of the user's configuration."""
    named = [environ[name] for name in ("HARNESS_CONFIG", "MXCP_CONFIG") if environ.get(name)]
    if any(path == Path(name).expanduser().resolve() for name in named):
        return True
    home = environ.get("HOME")
    own = (
        [Path(home) / ".harness" / "config.yml", Path(home) / ".mxcp" / "config.yml"]
        if home
        else []
    )
    return path.is_relative_to(builtin_root()) or any(path == each.resolve() for each in own)


def _find_other_owner(path: Path, project: Path, environ: Mapping[str, str]) -> str | None:
    if not hasattr(os, "geteuid"):
        return None
    me = {0, os.geteuid()}
    if os.geteuid() == 0 and environ.get("SUDO_UID", "").isdigit():
        me.add(int(environ["SUDO_UID"]))
    # Whoever owns a folder can replace the files in it.
    for place in (path, path.parent, project):
        owner = place.stat().st_uid
        if owner not in me:
            return f"{place} belongs to another user ({_get_user_name(owner)})"
    return None


def _get_user_name(uid: int) -> str:
    import pwd  # not on every system

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def _find_clone_origin(project: Path) -> str | None:
    """Recognise a clone without own commits by its reflog: ``clone: from URL``, no ``commit``."""
    try:
        with (_git_folder(project) / "logs" / "HEAD").open("rb") as file:
            lines = file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    said = [line.partition("\t")[2] for line in lines]
    if (
        not said
        or not said[0].startswith("clone:")
        or any(each.startswith("commit") for each in said)
    ):
        return None
    return (
        f"{project} was cloned ({said[0].removeprefix('clone: ')}), and you have committed nothing "
        "in it"
    )


def _git_folder(project: Path) -> Path:
    """Return the git folder of ``project``, which may be a worktree or a submodule."""
    git = project / ".git"
    if not git.is_file():
        return git
    # A worktree has no reflog of the clone; the folder that it shares with the others has.
    folder = project / git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
    common = folder / "commondir"
    return folder / common.read_text("utf-8", "replace").strip() if common.is_file() else folder


def _find_download_mark(path: Path) -> str | None:
    for name in _ORIGINS if hasattr(os, "getxattr") else ():
        try:
            where = os.getxattr(path, name)
        except OSError:
            continue
        return f"{path} was downloaded ({where.decode('utf-8', 'replace')[:200]})"
    return None
