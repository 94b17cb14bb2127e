"""Trust: which folders may name programs to start, and the gate that asks before it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from harness.base.builtin import builtin_root
from harness.base.errors import UsageError
from harness.base.redaction import KNOWN
from harness.base.safe_text import escape_hidden
from harness.base.state import state_folder, write_private_text
from harness.types import ModelSpec, ServerSpec, dataclass

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
    if home := environ.get("HOME"):
        own = [Path(home) / folder / "config.yml" for folder in (".harness", ".mxcp")]
        if any(path == each.resolve() for each in own):
            return True
    return path.is_relative_to(builtin_root())


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
    if not said or not said[0].startswith("clone:"):
        return None
    if any(each.startswith("commit") for each in said):
        return None
    origin = said[0].removeprefix("clone: ")
    return f"{project} was cloned ({origin}), and you have committed nothing in it"


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


VARIABLE = "HARNESS_TRUST"
"""The variable that, set to 1, has the effect of ``--trust``."""
_SHOWN = 20
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class RequestedAction:
    """An action that a file requests."""

    file: Path
    """The file."""
    words: str
    """The action: ``start python server.py``. References such as ``${NAME}`` are not expanded."""
    detail: str = ""
    """Further content; a change of it makes another action."""

    @property
    def digest(self) -> str:
        """The digest that is remembered; a changed action has a new digest."""
        content = f"{self.words}\n{self.detail}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).hexdigest()


class Gate:
    """Allows an action if its file is the user's own, or if the user trusts it."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        """Trust no other folders yet, and have nobody to ask."""
        self.environ = environ
        self.trusting = False
        """Whether the user gave ``--trust``."""
        self.ask: Callable[[str], bool] | None = None
        """Shows a text and returns whether the user agrees; ``None`` without a terminal."""
        self._passed: set[RequestedAction] = set()

    def require_trust(self, deeds: Iterable[RequestedAction]) -> None:
        """Return if all ``deeds`` are allowed.

        Raises:
            UsageError: one is from a folder that is not the user's own, and the user did not agree.
        """
        # What was allowed once in this process is not asked again, even if it cannot be stored.
        new = [deed for deed in dict.fromkeys(deeds) if deed not in self._passed]
        foreign: dict[Path, list[RequestedAction]] = {}
        for deed in new:
            if why_not_own(deed.file, self.environ) is not None and not self._is_remembered(deed):
                foreign.setdefault(find_project(deed.file), []).append(deed)
        for project, unknown in foreign.items():
            self._require_agreement(project, unknown)
        self._passed.update(new)

    def require_plan(self, servers: Iterable[ServerSpec], models: Iterable[ModelSpec] = ()) -> None:
        """Require that ``servers`` and ``models`` may be used, with a single question."""
        self.require_trust([*_iterate_server_actions(servers), *_iterate_model_actions(models)])

    def require_code(self, file: Path) -> None:
        """Require that the Python code in ``file`` may be imported."""
        try:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError:
            return  # reported by the import itself
        self.require_trust([RequestedAction(file, f"run the Python code in {file}", content)])

    def vouch(self, file: Path, server: ServerSpec) -> None:
        """Remember that ``file``, which harness has just written, has only the user's input."""
        if why_not_own(file, self.environ) is not None:
            deeds = [RequestedAction(file, words) for words in server.deeds]
            self._remember(find_project(file), deeds)

    def _require_agreement(self, project: Path, deeds: list[RequestedAction]) -> None:
        why = _format_line(why_not_own(deeds[0].file, self.environ) or "")
        lines = [f"  - {_format_line(deed.words)}" for deed in deeds[:_SHOWN]]
        if len(deeds) > _SHOWN:
            lines.append(f"  - and {len(deeds) - _SHOWN} more")
        told = "\n".join(lines)
        if self.trusting or self.environ.get(VARIABLE) == "1":
            pass
        elif self.ask is None:
            raise UsageError(
                f"this folder is not your own: {why}. Its files ask to\n{told}",
                meant=f"Read them. If they may do that, add --trust, or set {VARIABLE}=1: it is "
                "remembered for this folder and what is listed here.",
            )
        elif not self.ask(f"This folder is not your own: {why}.\nIts files ask to\n{told}\n"):
            raise UsageError("nothing was started, since you did not agree")
        self._remember(project, deeds)

    def _is_remembered(self, deed: RequestedAction) -> bool:
        return deed.digest in self._read_trusted().get(str(find_project(deed.file)), ())

    def _remember(self, project: Path, deeds: list[RequestedAction]) -> None:
        folders, name = self._read_trusted(), str(project)
        folders[name] = sorted({*folders.get(name, ()), *(deed.digest for deed in deeds)})
        with suppress(OSError):  # if it cannot be stored, the user is asked again
            write_private_text(self._store_path, json.dumps({"folders": folders}, indent=1) + "\n")

    def _read_trusted(self) -> dict[str, list[str]]:
        try:
            folders = json.loads(self._store_path.read_text("utf-8"))["folders"]
            return {
                str(folder): [str(digest) for digest in digests]
                for folder, digests in folders.items()
            }
        # A damaged file trusts nothing: the user is asked again.
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    @property
    def _store_path(self) -> Path:
        return state_folder(self.environ) / "trust.json"


def _iterate_server_actions(servers: Iterable[ServerSpec]) -> Iterator[RequestedAction]:
    for server in (one for each in servers for one in (each, *each.members)):
        if server.at is not None:
            yield from (RequestedAction(Path(server.at.file), words) for words in server.deeds)


def _iterate_model_actions(models: Iterable[ModelSpec]) -> Iterator[RequestedAction]:
    """Yield the actions of models in a file: sending conversations and keys to its URL.

    Those of agents: running their programs.
    """
    for model in models:
        if model.agent is not None and model.agent.at is not None:
            program = Path(model.agent.at.file)
            yield from (RequestedAction(program, words) for words in model.agent.deeds)
        file, _, line = model.sources.get("base_url", "").rpartition(":")
        if file and line.isdigit():
            key = f" with ${model.api_key_variable}" if model.api_key_variable else ""
            # As a digest in the deed, so that other headers or another body need a new agreement.
            sent = json.dumps([dict(model.headers), dict(model.body)], default=str)
            words = f"send conversations to {model.base_url}{key} (model {model.name})"
            yield RequestedAction(Path(file), words, hashlib.sha256(sent.encode()).hexdigest())


def _format_line(text: str) -> str:
    shown = escape_hidden(" ".join(KNOWN.redact_text(text).split()))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


GATE = Gate()
"""The gate of this process."""


__all__ = ["GATE", "Gate", "RequestedAction"]
