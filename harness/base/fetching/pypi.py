"""Downloads a wheel with the user's own pip, and reads its members within bounds."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from harness.base.errors import UsageError
from harness.base.fetching import Progress
from harness.base.fetching.cache import compute_sha256

_RAW_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")


def fetch_wheel(name: str, release: str, sha256: str, downloads: Path, progress: Progress) -> Path:
    """Return the wheel of that release, downloaded into ``downloads`` unless it is already there.

    Raises:
        UsageError: it cannot be downloaded, or is not the expected file.
    """
    target = downloads / f"{name.replace('-', '_')}-{release}-py3-none-any.whl"
    # Also the file that is there: an earlier download may have been altered since.
    if target.is_file() and compute_sha256(target) == sha256:
        return target
    command = f"pip download --no-deps {name}=={release}"
    by_hand = f"Download it where you can ({command}), and name the file with --from FILE."
    if find_spec("pip") is None:
        raise UsageError(f"this Python has no pip to download {name} with", meant=by_hand)
    try:
        downloads.mkdir(parents=True, exist_ok=True)
        # Under `downloads` only what was verified may ever have its final name.
        with tempfile.TemporaryDirectory(dir=downloads) as folder:
            _download(f"{name}=={release}", Path(folder), progress, by_hand)
            found = list(Path(folder).glob("*.whl"))
            if len(found) != 1 or compute_sha256(found[0]) != sha256:
                raise UsageError(
                    f"what the package index serves as {name} {release} is not the published file",
                    meant=f"Its SHA-256 should be {sha256}. Is a mirror or a proxy altering it?",
                )
            found[0].replace(target)
    except OSError as error:
        raise UsageError(f"{downloads} cannot be written: {error.strerror or error}") from error
    return target


def install_packages(lock: Path, folder: Path, wheels: Path | None, progress: Progress) -> None:
    """Install exactly the packages of ``lock``, a file with their versions and hashes.

    They are put into ``folder`` alone: none of their dependencies is added, and nothing of this
    Python is changed. ``wheels`` is a folder to take them from instead of the package index.

    Raises:
        UsageError: they cannot be had, or one is not the published file.
    """
    by_hand = (
        "Download them where you can (pip download --no-deps --only-binary=:all: -r "
        f"{lock} --dest FOLDER), and name the folder with --from FOLDER."
    )
    if find_spec("pip") is None:
        raise UsageError("this Python has no pip to install with", meant=by_hand)
    options = ["--require-hashes", "--target", str(folder), "--requirement", str(lock)]
    if wheels is not None:
        options += ["--no-index", "--find-links", str(wheels.absolute())]
    _run_pip("install", "the packages", options, progress, by_hand)


def _download(requirement: str, folder: Path, progress: Progress, by_hand: str) -> None:
    options = ["--dest", str(folder), requirement]
    _run_pip("download", requirement, options, progress, by_hand)


def _run_pip(action: str, what: str, more: Sequence[str], progress: Progress, by_hand: str) -> None:
    """Run pip without dependencies; a failure has its last words."""
    options = "--no-deps --no-cache-dir --only-binary=:all: --disable-pip-version-check --no-input"
    command = [sys.executable, "-m", "pip", action, *options.split()]
    command += [*_detect_pip_options(), *more]
    said: list[str] = []
    progress(f"downloading {what}", 0, 0)
    with subprocess.Popen(  # noqa: S603 - pip itself, with arguments of ours
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        # stderr is in the same pipe: a second one that nobody reads could fill up and block pip.
        for line in process.stdout:
            if amounts := _RAW_PROGRESS.search(line):
                progress(f"downloading {what}", int(amounts[1]), int(amounts[2]))
            else:
                said.append(line.rstrip())
    if process.returncode:
        lines = [f"pip could not {action} {what}:", *said[-_LAST:]]
        raise UsageError("\n    ".join(lines), meant=by_hand)


def _detect_pip_options() -> list[str]:
    """Return this pip's options for progress and for resuming downloads."""
    parts = version("pip").split(".")
    release = tuple(int(part) for part in parts[:2] if part.isdigit())
    options = ["--progress-bar=raw"] if release >= _TELLS_PROGRESS else ["--progress-bar=off"]
    return [*options, "--resume-retries=5"] if release >= _RESUMES else options


_TELLS_PROGRESS = (24, 1)
_RESUMES = (25, 1)
_LAST = 6
"""Prefixes of the lines in pip's output that say why it failed."""


MAX_BYTES = 200_000_000
"""Most bytes of all wanted files; an archive with more is not the right one."""

_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, RuntimeError, ValueError),
)
"""Exceptions of the unpackers for data that are truncated, altered, encrypted or in an unknown
format."""


def read_members(origin: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Return the ``wanted`` files of an archive (zip, wheel) or folder, by names with ``/``.

    Raises:
        UsageError: it is neither, cannot be read, is too large, or a name in it leaves the folder.
    """
    try:
        iterate = _iterate_folder if origin.is_dir() else _iterate_archive
        # Inside the `try`: both are generators, which read only now.
        return dict(iterate(origin, wanted))
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
        why = "which could be written anywhere; nothing was unpacked"
        raise UsageError(f"{origin} holds a file named {name!r}, {why}")
