"""The pages that people write, as the site has them."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from docs.site.pages import ROOT, copy_pages, on_site, pages

FOR_AUTHORS = {"Evidence", "For contributors"}
"""Parts of the navigation whose lists are for those who check harness, or work on it."""
KNOWN = {
    "README.md": "index.md",
    "docs/suites.md": "suites.md",
    "docs/tutorial/index.md": "tutorial/index.md",
}


@pytest.mark.parametrize(
    ("source", "written", "shown"),
    [
        ("README.md", "[suites](docs/suites.md#a)", "[suites](suites.md#a)"),
        ("docs/suites.md", "[start](../README.md)", "[start](index.md)"),
        ("docs/tutorial/index.md", "[suites](../suites.md)", "[suites](../suites.md)"),
        ("docs/tutorial/index.md", "![a](../images/a.png)", "![a](../images/a.png)"),
        ("docs/suites.md", "[there](https://example.com/a)", "[there](https://example.com/a)"),
        ("docs/suites.md", "[here](#heading)", "[here](#heading)"),
    ],
)
def test_a_link_leads_to_the_page_as_the_site_names_it(
    source: str, written: str, shown: str
) -> None:
    assert on_site(written, source, KNOWN) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[`hr_access.yml`](../evals/hr_access.yml)", "`hr_access.yml` (`evals/hr_access.yml`)"),
        ("[the suite](../evals/hr_access.yml)", "the suite (`evals/hr_access.yml`)"),
    ],
)
def test_a_link_to_what_is_not_on_the_site_becomes_its_words_and_path(
    written: str, shown: str
) -> None:
    assert on_site(written, "docs/suites.md", KNOWN) == shown


def test_a_link_to_what_is_nowhere_stays_for_the_generator_to_complain_of() -> None:
    assert on_site("[a](gone.md)", "docs/suites.md", KNOWN) == "[a](gone.md)"


@pytest.mark.parametrize(
    "code", ["`[a](../README.md)`", "```\n[a](../README.md)\n- b\n  c\n```", "``[`a`](b.md)``"]
)
def test_what_looks_like_a_link_or_a_list_in_code_is_left_alone(code: str) -> None:
    assert on_site(code, "docs/suites.md", KNOWN) == code


def test_a_bar_in_code_needs_no_backslash_in_a_table_of_the_site() -> None:
    assert on_site(r"| `a\|b` | c \| d |", "docs/suites.md", KNOWN) == r"| `a|b` | c \| d |"
    assert on_site(r"`a\|b`", "docs/suites.md", KNOWN) == r"`a\|b`"


def test_what_belongs_to_an_item_is_indented_as_far_as_the_generator_needs() -> None:
    written = """\
        1. One:

           ```yaml
           - a
           ```
        2. Two
           goes on
        lazily
           - inner
             deep

        After.
    """
    shown = """\
        1. One:

            ```yaml
            - a
            ```

        2. Two
            goes on
        lazily
            - inner
                deep

        After.
    """
    assert on_site(dedent(written), "docs/suites.md", KNOWN) == dedent(shown)


def in_navigation(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from in_navigation(inner)


def navigation() -> list[dict[str, Any]]:
    settings = tomllib.loads((ROOT / "docs" / "site" / "zensical.toml").read_text("utf-8"))
    parts: list[dict[str, Any]] = settings["project"]["nav"]
    return parts


def test_every_page_has_one_place_in_the_navigation() -> None:
    placed = [page for page in in_navigation(navigation()) if "reference/" not in page]
    assert sorted(placed) == sorted(pages().values())


def test_only_the_pages_of_two_parts_name_tests() -> None:
    theirs = {
        page
        for part in navigation()
        for page in in_navigation([part[name] for name in part if name in FOR_AUTHORS])
    }
    named = {
        page
        for source, page in pages().items()
        if re.search(r"`tests/|\btest_\w+\.py\b", (ROOT / source).read_text("utf-8"))
    }
    assert "reliability.md" in named
    assert named - theirs == set()


def test_the_pages_and_their_pictures_are_copied(tmp_path: Path) -> None:
    copy_pages(tmp_path)
    assert (tmp_path / "index.md").exists()
    assert (tmp_path / "images" / "web-results.png").exists()


def test_a_link_to_a_file_that_is_no_page_is_not_broken_over_two_lines() -> None:
    known = pages()
    broken = [
        f"{source}: {end['to']}"
        for source in known
        for end in re.finditer(
            r"^[^\[\n]*\]\((?P<to>[^)\s#]+)", (ROOT / source).read_text("utf-8"), re.MULTILINE
        )
        if "://" not in end["to"]
        and posixpath.normpath(posixpath.join(posixpath.dirname(source), end["to"])) not in known
    ]
    assert broken == []
