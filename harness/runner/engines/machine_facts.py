"""Whether another machine would run the trials of a plan as this one would.

It must have the same versions of everything that takes part in a trial, and the same files in a
project folder of the same path.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import harness
from harness.models import get_traits
from harness.runner.planning.plan import RunPlan
from harness.types import dataclass

_PACKAGES = ("mcp", "anthropic", "openai", "httpx2", "pydantic", "jsonschema", "genai-prices")
"""What decides on requests, results and costs."""
_OWN = Path(harness.__file__).parent
_DIGITS = 12
_MISSING = "not installed"


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """What a machine has, as far as trials depend on it."""

    versions: Mapping[str, str]
    """Version by package; harness's own is a digest of its files, since they may be edited."""
    files: Mapping[str, str | None]
    """Digest by file; ``None`` where there is none."""
    folder: bool
    """Whether the project's folder is there."""


def inspect_machine(folder: Path, files: Iterable[str]) -> MachineFacts:
    """Return what this machine has of ``files``, each absolute or relative to ``folder``."""
    versions = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = _MISSING
    own = hashlib.sha256()
    for path in sorted(_OWN.rglob("*.py")):
        # With the name, so that a renamed file makes another digest.
        own.update(f"{path.relative_to(_OWN)}\n".encode() + path.read_bytes())
    digests: dict[str, str | None] = {}
    for file in files:
        try:
            digests[file] = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        except OSError:
            digests[file] = None
    return MachineFacts(
        versions={"harness": own.hexdigest()[:_DIGITS], **versions},
        files=digests,
        folder=folder.is_dir(),
    )


def find_differences(here: MachineFacts, there: MachineFacts, folder: Path) -> Iterator[str]:
    """Yield what is different there, a sentence each."""
    for name, ours in here.versions.items():
        theirs = there.versions.get(name, _MISSING)
        if theirs != ours and name == "harness":
            yield f"the files of harness are others: their digest is {theirs}, here it is {ours}"
        elif theirs != ours:
            yield f"{name} is {theirs}, and here it is {ours}"
    # Without the folder every file would be missing as well.
    if not there.folder:
        yield f"there is no folder {folder}"
        return
    for file, digest in here.files.items():
        if there.files.get(file) is None:
            yield f"there is no file {file}"
        elif there.files[file] != digest:
            yield f"the file {file} is another one"


def list_files(plan: RunPlan, folder: Path) -> list[str]:
    """Return the files that the trials of ``plan`` depend on, as far as the plan names them.

    These are its suites, its recordings, and what stands in the commands of its servers. Programs,
    and what is a part of this package, are left out.
    """
    named = [Path(suite.at.file) for suite in plan.suites if suite.at is not None]
    named += [
        Path(model.model_id)
        for model in (*plan.models, *plan.user_models)
        if get_traits(model.provider).answers in ("replies", "outputs")
    ]
    for server in (*plan.servers, *plan.decoys_from):
        transport = server.transport
        base = Path(transport.cwd or "")
        named += [base / word for word in (transport.command or "", *transport.args) if word]
    found = []
    for path in dict.fromkeys(folder / path for path in named):
        with suppress(OSError):  # a word of a command may be longer than any path
            if path.is_file() and not path.is_relative_to(_OWN) and path.suffix:
                own = path.is_relative_to(folder)
                found.append(str(path.relative_to(folder) if own else path))
    return found
