"""The pages are short enough to be read, and no job takes more than ten minutes of reading."""

from __future__ import annotations

import pytest

from tests.docs.reading import JOBS, MINUTES, count_minutes, count_pages, list_unreached

MOST_IN_ALL = 55_000
MOST = 1_600
"""Words of a page, but of the longer ones below."""
LONGER = {
    "CONTRIBUTING.md": 2_150,
    "docs/agents.md": 1_650,
    "docs/probing.md": 2_620,
    "docs/reliability.md": 1_950,
    "docs/reports.md": 1_750,
    "docs/servers.md": 2_000,
    "docs/suites.md": 2_300,
    "docs/tutorial/index.md": 2_020,
    "docs/workbench.md": 1_870,
}


def count() -> dict[str, int]:
    """Return the words of each page but the changelog, which grows with every release."""
    counts = count_pages()
    del counts["CHANGELOG.md"]
    return counts


def test_no_page_is_longer_than_its_bound() -> None:
    counts = count()
    assert {page: n for page, n in counts.items() if n > LONGER.get(page, MOST)} == {}
    assert [page for page in LONGER if page not in counts] == []


def test_all_pages_together_can_be_read() -> None:
    assert sum(count().values()) <= MOST_IN_ALL


@pytest.mark.parametrize("job", JOBS)
def test_a_job_takes_at_most_ten_minutes_of_reading_along_links_that_are_there(job: str) -> None:
    assert list_unreached(job) == []
    assert count_minutes(job) <= MINUTES
