"""One name for the distribution, wherever somebody is told to install it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import harness
from harness.judging.exit_codes import EXIT_INVALID
from harness.version import DISTRIBUTION

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = set(PROJECT["optional-dependencies"])
TEXTS = [
    ROOT / "pyproject.toml",
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "harness").rglob("*.py"),
]
_INSTALLED = re.compile(
    r"""(?:pip install|pipx run --spec|--from) ["']*(?P<name>(?:mcp-)?harness[\w-]*)"""
)
_WITH_EXTRAS = re.compile(r"(?P<name>harness[\w-]*)\[(?P<extras>[a-z,]+)\]")


def test_the_source_and_the_metadata_agree_on_name_and_version() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert harness.__version__ == version(DISTRIBUTION)


def test_the_changelog_has_a_section_on_this_version() -> None:
    sections = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert [one for one in sections if one.startswith(f"{harness.__version__} (")]


def test_the_pages_name_this_version_where_they_pin_one() -> None:
    pinned = re.compile(
        r"harness[\w./-]*(?:@v?|==)(?P<version>\d+\.\d+\.\d+)|rev: v(?P<rev>[\d.]+)"
    )
    named = [
        match["version"] or match["rev"]
        for text in TEXTS
        if text.suffix == ".md" and text.name != "CHANGELOG.md"
        for match in pinned.finditer(text.read_text("utf-8"))
    ]
    assert len(named) >= 5
    assert set(named) == {harness.__version__}


def test_every_command_that_installs_harness_names_this_distribution() -> None:
    named = {
        (match["name"], text.name)
        for text in TEXTS
        for match in _INSTALLED.finditer(text.read_text("utf-8"))
    }
    assert len(named) >= 4
    assert {pair for pair in named if pair[0] != DISTRIBUTION} == set()


def test_every_extra_that_is_named_exists() -> None:
    named = [
        (match["name"], extra)
        for text in TEXTS
        for match in _WITH_EXTRAS.finditer(text.read_text("utf-8"))
        for extra in match["extras"].split(",")
    ]
    assert {extra for _, extra in named} >= {"all", "otel", "pytest", "web"}
    assert {pair for pair in named if pair[0] != DISTRIBUTION or pair[1] not in EXTRAS} == set()


@pytest.mark.parametrize(
    ("missing", "command", "extra"),
    [
        ("uvicorn", ["serve"], "web"),
        ("opentelemetry.exporter", ["evals", "data_governance", "--otel"], "otel"),
    ],
)
def test_a_command_whose_extra_is_missing_names_what_to_install(
    missing: str, command: list[str], extra: str, tmp_path: Path
) -> None:
    without = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        f"sys.argv = ['harness', *{command!r}]\n"
        "from harness.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", without],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == EXIT_INVALID, done.stderr
    assert f'pip install "harness-for-mcp[{extra}]"' in done.stderr
