"""What the page says is what the tests find."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from harness.leaderboards.tau2.data import REVISIONS
from harness.leaderboards.tau2.source import PACKAGE, RELEASE
from harness.leaderboards.tau2.suite import TYPICAL_TOKENS
from harness.leaderboards.tau2.tasks import Component
from tests.leaderboards.tau2.test_parity import FILES, UNTOUCHED

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "tau2.md").read_text("utf-8")


def test_the_parity_table_has_the_figures_that_the_tests_hold() -> None:
    for name, (simulations, calls) in FILES.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1:4] == [str(simulations)] * 3
        assert cells[5] == f"{calls} of {calls}"


def test_digests_releases_and_figures_are_those_of_the_code() -> None:
    assert all(f"`{digest[:8]}…{digest[-5:]}`" in PAGE for digest in UNTOUCHED.values())
    assert f"{PACKAGE}=={RELEASE}" in PAGE
    assert all(revision.name in PAGE for revision in REVISIONS)
    assert f"{TYPICAL_TOKENS[0]:,} tokens in a simulation" in PAGE
    assert all(f"| {component} | " in PAGE for component in get_args(Component))


def test_every_page_that_is_pointed_to_is_there() -> None:
    links = re.findall(r"\]\(([\w.-]+)(?:#[\w-]+)?\)", PAGE)
    assert links
    assert [link for link in links if not (DOCS / link).is_file()] == []
