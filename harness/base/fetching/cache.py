"""The cache of fetched data, verified: ``$HARNESS_CACHE``, else the user's cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError
from harness.types import dataclass

CACHE_VARIABLE = "HARNESS_CACHE"
"""The variable that sets another cache folder."""

_STAMP = "fetched.json"
# Written last: a folder without it is incomplete.


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of all fetched data, which need not exist."""
    if named := environ.get(CACHE_VARIABLE):
        return Path(named).expanduser().absolute()
    base = environ.get("XDG_CACHE_HOME") or ""
    # the XDG specification says to ignore relative paths
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "harness"


def read_stamp(folder: Path) -> dict[str, Any] | None:
    """Return the stamp of ``folder``; ``None`` if the folder is missing or incomplete."""
    try:
        noted = json.loads((folder / _STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return noted if isinstance(noted, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataParts:
    """The parts of data that a folder contains, or is to contain."""

    tree: str
    """Digest of all the data; a stamp with another digest is ignored."""
    names: frozenset[str]
    """The parts."""
    limit: int | None = None
    """Most cases of each part; ``None`` for all."""

    def is_covered_by(self, noted: Mapping[str, Any] | None) -> bool:
        """Return whether the folder with the stamp ``noted`` contains all these parts."""
        had = self._parse_stamp(noted)
        enough = had.limit is None or (self.limit is not None and self.limit <= had.limit)
        return self.names <= had.names and enough

    def merge_with(self, noted: Mapping[str, Any] | None) -> DataParts:
        """Return the union with the folder's parts: fetching more never removes anything."""
        had = self._parse_stamp(noted)
        if not had.names:
            return self
        limit = None if self.limit is None or had.limit is None else max(self.limit, had.limit)
        return DataParts(tree=self.tree, names=self.names | had.names, limit=limit)

    def to_stamp(self, order: Sequence[str]) -> dict[str, Any]:
        """Return the stamp for these parts, with the names in the given order."""
        return {
            "tree": self.tree,
            "categories": [name for name in order if name in self.names],
            "limit": self.limit,
        }

    def _parse_stamp(self, noted: Mapping[str, Any] | None) -> DataParts:
        if noted is None or noted.get("tree") != self.tree:
            return DataParts(tree=self.tree, names=frozenset())
        return DataParts(tree=self.tree, names=frozenset(noted["categories"]), limit=noted["limit"])


@contextmanager
def replace_folder(folder: Path, noted: Mapping[str, Any]) -> Iterator[Path]:
    """Yield an empty folder that replaces ``folder`` if the block succeeds, stamped with ``noted``.

    Until then the old folder stays; an interrupted fetch leaves nothing behind.

    Raises:
        UsageError: the disk is full, or not writable.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Beside the old folder, since a rename works only within one disk.
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UsageError(f"{folder.parent} cannot be written: {error.strerror}") from error
    try:
        yield fresh
        (fresh / _STAMP).write_text(json.dumps(dict(noted), indent=1) + "\n", "utf-8")
        # `mkdtemp` lets nobody else in, and a cache may be shared.
        fresh.chmod(0o755)
        # A folder that is not empty cannot be renamed over.
        if folder.exists():
            shutil.rmtree(folder)
        fresh.rename(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def compute_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def tree_digest(files: Mapping[str, bytes]) -> str:
    """Return one SHA-256 for files by their names, whatever archive or folder they come from."""
    # In the form in which `sha256sum` lists files.
    digests = ((hashlib.sha256(files[name]).hexdigest(), name) for name in sorted(files))
    listed = "".join(f"{digest}  {name}\n" for digest, name in digests)
    return hashlib.sha256(listed.encode()).hexdigest()
