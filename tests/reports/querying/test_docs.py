"""The page on questions names every table and column."""

from __future__ import annotations

from tests.reports.querying.write_docs import PAGE, written


def test_the_page_names_every_table_and_column() -> None:
    page = PAGE.read_text("utf-8")
    assert written(page) == page, "run: python -m tests.reports.querying.write_docs"
    assert "| `duration_s` | REAL |" in page
