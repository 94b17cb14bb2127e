"""The two files of a release, built as a release builds them."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Release:
    """A source distribution and a wheel."""

    sdist: Path
    wheel: Path


def build(source: Path, target: Path) -> Release:
    """Build both from ``source`` into ``target``."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
    subprocess.run(command, cwd=source, check=True, timeout=120, capture_output=True)
    (sdist,), (wheel,) = target.glob("*.tar.gz"), target.glob("*.whl")
    return Release(sdist, wheel)


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The release of this checkout."""
    return build(ROOT, tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")  # tests install into it
def empty_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the dependencies of harness and pip, and without harness."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    (site,) = (folder / "lib").glob("python*/site-packages")
    # An editable install leaves the built-in suites in a folder `harness`: pip would write through.
    for theirs in Path(sysconfig.get_path("purelib")).iterdir():
        if "harness" not in theirs.name:
            (site / theirs.name).symlink_to(theirs)
    return folder / "bin"
