"""Writes the record's table in ``docs/reports.md``: ``python -m tests.reports.write_docs``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.reports.record_fields import RECORD_FIELDS

PAGE = Path(__file__).parents[2] / "docs" / "reports.md"
_MARKED = re.compile(r"(?P<begin><!-- record -->\n).*?(?P<end><!-- end of record -->)", re.DOTALL)


def written(page: str) -> str:
    """Return ``page`` with the fields of the record between its markers."""
    return _MARKED.sub(lambda marked: marked["begin"] + "\n".join(_lines()) + marked["end"], page)


def _lines() -> Iterator[str]:
    yield "\n| field | type | unit | what it says | null if |\n|---|---|---|---|---|"
    for field in RECORD_FIELDS:
        yield f"| `{field.name}` | {field.kind} | {field.unit} | {field.doc} | {field.null} |"
    yield "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
