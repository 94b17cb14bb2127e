"""What a release contains: the package and what belongs to it, and not a file more."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from harness.version import DISTRIBUTION, __version__
from tests.packaging.conftest import ROOT, Release, build

STEM = f"{DISTRIBUTION.replace('-', '_')}-{__version__}"
METADATA = f"{STEM}.dist-info"
NAMES = ("py.typed", "SKILL.md")
KINDS = {
    ".lock",
    ".py",
    ".pyi",
    ".js",
    ".css",
    ".html",
    ".svg",
    ".json",
    ".jsonl",
    ".csv",
    ".yml",
    ".txt",
}
"""The kinds of files of the package; `py.typed` has none, and `.pyi` lists a room's names."""


def source_files(*folders: str) -> Iterator[PurePosixPath]:
    """Yield the files below ``folders`` of the checkout, without what Python left there."""
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield PurePosixPath(path.relative_to(ROOT))


def files_of_the_wheel(release: Release) -> set[PurePosixPath]:
    with ZipFile(release.wheel) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


def files_of_the_sdist(release: Release) -> set[PurePosixPath]:
    with tarfile.open(release.sdist) as archive:
        return {PurePosixPath(name).relative_to(STEM) for name in archive.getnames()}


@pytest.mark.slow
def test_the_wheel_holds_the_package_with_its_suites_and_servers(release: Release) -> None:
    inside = {path for path in files_of_the_wheel(release) if path.parts[0] != METADATA}
    assert inside == {
        *source_files("harness"),
        *("harness/_builtin" / path for path in source_files("evals", "servers")),
    }


@pytest.mark.slow
def test_the_wheel_installs_one_name(release: Release) -> None:
    assert {path.parts[0] for path in files_of_the_wheel(release)} == {"harness", METADATA}


@pytest.mark.slow
def test_the_wheel_has_its_licences(release: Release) -> None:
    licences = {
        path.name
        for path in files_of_the_wheel(release)
        if path.parts[:2] == (METADATA, "licenses")
    }
    assert licences == {"LICENSE", "NOTICE"}


def test_the_notice_says_where_everything_that_is_no_code_is_from() -> None:
    named = re.findall(r"[\w.]+(?:/[\w.]+)*(?:/|\.\w+)", (ROOT / "NOTICE").read_text("utf-8"))
    data = [
        path
        for path in source_files("harness", "evals", "servers")
        if path.suffix in {".csv", ".json", ".jsonl", ".svg", ".txt", ".yml"}
    ]
    assert len(data) > 10
    assert [path for path in data if not str(path).startswith(tuple(named))] == []


@pytest.mark.slow
def test_nothing_in_the_wheel_is_of_a_kind_that_nobody_meant_to_ship(release: Release) -> None:
    strange = {
        path
        for path in files_of_the_wheel(release)
        if path.parts[0] != METADATA and path.suffix not in KINDS and path.name not in NAMES
    }
    assert strange == set()


@pytest.mark.slow
def test_the_source_distribution_holds_the_package_its_pages_and_what_builds_it(
    release: Release,
) -> None:
    at_the_top = {PurePosixPath(path.name) for path in ROOT.glob("*.md")}
    built_by = {"LICENSE", "NOTICE", "PKG-INFO", "pyproject.toml", ".gitignore"}
    assert files_of_the_sdist(release) == {
        *source_files("harness", "evals", "servers", "docs"),
        *at_the_top,
        *map(PurePosixPath, built_by),
    }


@pytest.mark.slow
def test_a_release_built_elsewhere_from_its_sources_is_the_same_to_the_byte(
    release: Release, tmp_path: Path
) -> None:
    with tarfile.open(release.sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    unpacked = tmp_path / "source" / STEM
    for path in unpacked.rglob("*.md"):
        path.touch()  # when a file was written does not count
    again = build(unpacked, tmp_path / "release")
    assert again.wheel.read_bytes() == release.wheel.read_bytes()
    assert again.sdist.read_bytes() == release.sdist.read_bytes()
