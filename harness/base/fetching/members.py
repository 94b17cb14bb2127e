"""Reads files from an untrusted archive or checkout."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from harness.base.errors import UsageError

MAX_BYTES = 200_000_000
"""Most bytes of all wanted files; an archive with more is not the right one."""

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""Exceptions of the unpackers for data that are truncated, altered, encrypted or in an unknown
format."""


def read_members(origin: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the ``wanted`` files of an archive (zip, wheel) or folder, by names with ``/``.

    Raises:
        UsageError: it is neither, cannot be read, is too large, or a name in it leaves the folder.
    """
    try:
        found = (
            _iterate_folder(origin, wanted) if origin.is_dir() else _iterate_archive(origin, wanted)
        )
        # Inside the `try`: both are generators, which read only now.
        return dict(found)
    except _DAMAGED as error:
        raise UsageError(f"{origin} is not a readable archive: {error}") from error
    except OSError as error:
        raise UsageError(f"{origin} cannot be read: {error.strerror or error}") from error


def _iterate_archive(origin: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    room = MAX_BYTES
    with zipfile.ZipFile(origin) as archive:
        for member in archive.infolist():
            if member.is_dir() or not wanted(member.filename):
                continue
            check_name(member.filename, origin)
            with archive.open(member) as file:
                content = file.read(room + 1)  # the size in the archive's header may be wrong
            room -= len(content)
            if room < 0:
                raise UsageError(f"{origin} unpacks to more than {MAX_BYTES:,} bytes")
            yield member.filename, content


def _iterate_folder(origin: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    inside, room = origin.resolve(), MAX_BYTES
    for path in sorted(origin.rglob("*")):
        name = path.relative_to(origin).as_posix()
        if wanted(name) and path.is_file():
            # A link in a checkout may lead to any file of the user.
            if not path.resolve().is_relative_to(inside):
                raise UsageError(f"{path} leads out of {origin}")
            with path.open("rb") as file:
                # One byte more than is allowed tells that there is too much.
                content = file.read(room + 1)
            room -= len(content)
            if room < 0:
                raise UsageError(f"{origin} holds more than {MAX_BYTES:,} bytes")
            yield name, content


def gunzip(name: str, content: bytes) -> bytes:
    """Return the content of a gzipped file.

    Raises:
        UsageError: it is damaged, or unpacks to too much.
    """
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{name} is a damaged archive: {error}") from error
    if len(unpacked) > MAX_BYTES:
        raise UsageError(f"{name} unpacks to more than {MAX_BYTES:,} bytes")
    return unpacked


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write ``files`` below ``folder``.

    Raises:
        UsageError: a name leaves the folder.
        OSError: a file cannot be written.
    """
    for name, content in files.items():
        check_name(name, folder)
        target = folder.joinpath(*PurePosixPath(name).parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def check_name(name: str, origin: Path) -> None:
    """Accept only a name that stays below the target folder.

    Raises:
        UsageError: it is absolute, contains ``..``, or has another system's form.
    """
    parts = name.split("/")
    if not name or "\\" in name or ":" in name or "\0" in name or {"", ".", ".."} & set(parts):
        raise UsageError(
            f"{origin} holds a file named {name!r}, which could be written anywhere; nothing was "
            "unpacked"
        )
