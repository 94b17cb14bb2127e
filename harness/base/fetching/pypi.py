"""Downloads a wheel with the user's own pip, with its index, proxies and credentials."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.fetching import Progress
from harness.base.fetching.verify import compute_sha256

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
    by_hand = (
        f"Download it where you can (pip download --no-deps {name}=={release}), and name the file "
        "with --from FILE."
    )
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


def _download(requirement: str, folder: Path, progress: Progress, by_hand: str) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--no-cache-dir",
        "--only-binary=:all:",
    ]
    command += [
        "--disable-pip-version-check",
        "--no-input",
        "--dest",
        str(folder),
        *_detect_pip_options(),
        requirement,
    ]
    said: list[str] = []
    progress(f"downloading {requirement}", 0, 0)
    with subprocess.Popen(  # noqa: S603 - pip itself, with arguments of ours
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        # stderr is in the same pipe: a second one that nobody reads could fill up and block pip.
        for line in process.stdout:
            if amounts := _RAW_PROGRESS.search(line):
                progress(f"downloading {requirement}", int(amounts[1]), int(amounts[2]))
            else:
                said.append(line.rstrip())
    if process.returncode:
        raise UsageError(
            f"pip could not download {requirement}:\n    " + "\n    ".join(said[-_LAST:]),
            meant=by_hand,
        )


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
