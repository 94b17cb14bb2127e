"""Every table of a run in SQL, and every field of a trial, from the code that fills them."""

from __future__ import annotations

from docs.site.reference.markdown import as_code, fenced, plain, table
from harness.reports.querying.columns import RUN
from harness.reports.querying.tables import TABLES
from harness.reports.record_fields import RECORD_FIELDS

_TABLES = """# Tables of a run

{example}
Every table and column for `harness query`. [A run in SQL](../query.md) explains how to ask.

"""
_RECORD = """# The record of a trial

{example}
Every field of a trial, with one name, one unit and one meaning in JSON, JSONL, CSV and SQL.
[Reports](../reports.md) says which output has which.

"""


def tables_page() -> str:
    """Return the page on the tables of a run."""
    return _TABLES.format(example=fenced("sh", "harness query --schema")) + "\n".join(
        f"## {one.name}\n\n{plain(one.doc)}\n\n"
        + table(
            ("column", "type", "what it holds"),
            ((as_code(each.name), each.kind, plain(each.doc)) for each in (RUN, *one.columns)),
        )
        for one in TABLES
    )


def record_page() -> str:
    """Return the page on the fields of a trial."""
    rows = (
        (as_code(one.name), one.kind, one.unit, plain(one.doc), plain(one.null))
        for one in RECORD_FIELDS
    )
    example = fenced("sh", "harness evals data_governance --report jsonl")
    return _RECORD.format(example=example) + table(
        ("field", "type", "unit", "what it says", "null if"), rows
    )
