import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!\w+:)(?P<path>[^)#\s]*)(?:#(?P<heading>[^)\s]*))?\)")


def prose(page: Path) -> str:
    """Return the text of a page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda code: re.sub(r"[\[\]()]", "", code[0]), text)


def headings(page: Path) -> set[str]:
    """Return what links call the headings of a page: lower case, hyphens, no punctuation."""
    found = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in found)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def dead_links(page: Path) -> Iterator[str]:
    for link in LINK.finditer(prose(page)):
        target = page.parent / link["path"] if link["path"] else page
        if not target.exists():
            yield f"{page.name}: there is no file {link['path']}"
        elif link["heading"] and target.suffix == ".md" and link["heading"] not in headings(target):
            yield f"{page.name}: {target.name} has no heading #{link['heading']}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert [*dead_links(page)] == []


def test_a_link_to_a_missing_file_or_heading_is_dead(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here we are\n[a](#here-we-are) [b](#there) [c](gone.md) `[d](code.md)`\n")
    assert [*dead_links(page)] == [
        "page.md: page.md has no heading #there",
        "page.md: there is no file gone.md",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_a_page_tells_to_run_is_there(page: Path) -> None:
    named = re.findall(
        r"python3? -m ((?:harness|servers|tests|benchmarks|docs)[\w.]*\w)", page.read_text("utf-8")
    )
    assert [name for name in named if importlib.util.find_spec(name) is None] == []
