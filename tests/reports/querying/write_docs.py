"""Writes the tables of ``docs/query.md``: ``python -m tests.reports.querying.write_docs``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.reports.querying.columns import RUN
from harness.reports.querying.tables import TABLES

PAGE = Path(__file__).parents[3] / "docs" / "query.md"
_MARKED = re.compile(r"(?P<begin><!-- tables -->\n).*?(?P<end><!-- end of tables -->)", re.DOTALL)


def written(page: str) -> str:
    """Return ``page`` with all tables and columns between its markers."""
    return _MARKED.sub(lambda marked: marked["begin"] + "\n".join(_tables()) + marked["end"], page)


def _tables() -> Iterator[str]:
    for table in TABLES:
        yield f"\n### `{table.name}`\n\n{table.doc}\n"
        yield "| column | type | what it holds |\n|---|---|---|"
        yield from (f"| `{one.name}` | {one.kind} | {one.doc} |" for one in (RUN, *table.columns))
    yield "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
