"""What must hold in the built site, on small sites that break it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.links import faults


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site").mkdir()
    (tmp_path / "docs").mkdir()
    return tmp_path


def found(site: Path, html: str, markdown: str = "") -> list[str]:
    (site / "site" / "page.html").write_text(f"<article>{html}</article>", "utf-8")
    (site / "docs" / "page.md").write_text(markdown, "utf-8")
    return [*faults(site / "site", site / "docs")]


def test_a_page_whose_links_lead_somewhere_has_no_fault(site: Path) -> None:
    html = '<h1 id="top">A</h1><a href="#top">a</a><a href="page.html#top">b</a>'
    assert found(site, html + '<a href="https://example.com/">c</a>', "# A") == []


def test_a_link_to_a_missing_page_or_heading_is_a_fault(site: Path) -> None:
    assert found(site, '<a href="gone.html">a</a><a href="#gone">b</a>') == [
        "page.html: the link gone.html leads nowhere",
        "page.html: page.html has no heading for the link #gone",
    ]


@pytest.mark.parametrize(
    "loads",
    [
        '<script src="https://example.com/a.js"></script>',
        '<link rel="stylesheet" href="//example.com/a.css">',
        '<img src="http://example.com/a.png">',
    ],
)
def test_what_a_browser_would_load_from_elsewhere_is_a_fault(site: Path, loads: str) -> None:
    (fault,) = found(site, loads)
    assert fault.startswith("page.html: it loads ")


def test_a_list_that_the_generator_takes_for_a_paragraph_is_a_fault(site: Path) -> None:
    assert found(site, "<p>One: - a - b</p>", "One:\n- a\n- b\n") == [
        "page.html: its text has 2 <li>, the page 0"
    ]
