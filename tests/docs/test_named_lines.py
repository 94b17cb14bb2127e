"""A line of a suite of ours that a page names is the one that is meant."""

import re
from pathlib import Path

import pytest

from docs.site.pages import ROOT

_NAMED = re.compile(
    r"✗ \w+ (?P<item>\S+)  \((?P<file>evals/[\w.]+):(?P<line>\d+):(?P<column>\d+)\)"
)


def list_named() -> list[tuple[str, str, int, int]]:
    """Return what is expected at which place, for suites that are part of the project."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [
        (one["item"], one["file"], int(one["line"]), int(one["column"]))
        for page in pages
        for one in _NAMED.finditer(page.read_text("utf-8"))
        if Path(ROOT / one["file"]).exists()
    ]


@pytest.mark.parametrize("named", list_named())
def test_what_a_page_names_stands_there(named: tuple[str, str, int, int]) -> None:
    item, file, line, column = named
    text = (ROOT / file).read_text("utf-8").splitlines()[line - 1]
    assert text[column - 1 :].startswith(item)


def test_a_page_names_such_a_line() -> None:
    assert list_named()
