"""Prints what a question in SQL comes to: as a table, as JSON, as CSV; and what can be asked."""

from __future__ import annotations

import csv
import json
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from harness.base import UsageError, escaped_json, make_one_line, shorten_text
from harness.reports.formats.csv_report import BYTE_ORDER_MARK, no_formula
from harness.reports.querying.columns import RUN
from harness.reports.querying.sql_query import QueryAnswer
from harness.reports.querying.tables import TABLES
from harness.reports.terminal import align_columns
from harness.version import DISTRIBUTION

_WIDEST = 100
"""Characters of a cell of the table; JSON and CSV have it whole."""


def print_schema(out: TextIO, *, json_output: bool) -> None:
    """Print the tables and their columns."""
    if json_output:
        tables = {
            table.name: {
                "doc": table.doc,
                "columns": {
                    one.name: {"kind": one.kind, "doc": one.doc} for one in (RUN, *table.columns)
                },
            }
            for table in TABLES
        }
        out.write(json.dumps({"status": "ok", "result": {"tables": tables}}) + "\n")
        return
    for table in TABLES:
        out.write(f"{table.name}: {table.doc}\n")
        rows = [(f"  {one.name}", one.kind, one.doc) for one in (RUN, *table.columns)]
        out.writelines(f"{line}\n" for line in (*align_columns(rows, left=(0, 1, 2)), ""))
    out.write(
        "Any column may be null: unknown, or none. BOOLEAN is 0 or 1.\n"
        "JSON is a text: json_extract(metadata, '$.area') reads it, json_each() unfolds it.\n"
    )


def _print_table(answer: QueryAnswer, limit: int, out: TextIO) -> bool:
    rows = [[_format_cell(value) for value in row] for row in islice(answer.rows, limit)]
    numbers = {
        place for place in range(len(answer.columns)) if all(_is_number(row[place]) for row in rows)
    }
    left = set(range(len(answer.columns))) - numbers
    out.writelines(f"{line}\n" for line in align_columns([answer.columns, *rows], left=left))
    # One row more tells whether others are left, without counting them.
    return next(answer.rows, None) is not None


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    return shorten_text(make_one_line(_format_text(value)), _WIDEST)


def _format_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_number(cell: str) -> bool:
    return cell.lstrip("-").replace(".", "", 1).replace("e-", "", 1).isdigit() or not cell


def _print_json(answer: QueryAnswer, limit: int, out: TextIO) -> bool:
    """Print row by row, which needs little memory."""
    out.write(f'{{"status": "ok", "result": {{"columns": {json.dumps(answer.columns)}, "rows": [')
    lead = "\n"
    for row in islice(answer.rows, limit):
        told = dict(zip(answer.columns, map(_to_plain, row), strict=True))
        out.write(lead + escaped_json(json.dumps(told, ensure_ascii=False)))
        lead = ",\n"
    left_out = next(answer.rows, None) is not None
    out.write(f'], "left_out": {json.dumps(left_out)}}}}}\n')
    return left_out


def _print_csv(answer: QueryAnswer, limit: int, out: TextIO) -> bool:
    # Behind what a file has already, the mark would be a character of its own.
    if _is_new_file(out):
        out.write(BYTE_ORDER_MARK)
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(map(no_formula, answer.columns))
    rows.writerows(map(_escape_formula, row) for row in islice(answer.rows, limit))
    return next(answer.rows, None) is not None


def _is_new_file(out: TextIO) -> bool:
    """Return whether ``out`` is an empty file, and not a pipe to a program that expects no mark."""
    try:
        facts = os.fstat(out.fileno())
    except OSError:  # no file at all, but text in memory
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size == 0


def _escape_formula(value: Any) -> Any:
    plain = _to_plain(value)
    return no_formula(make_one_line(plain)) if isinstance(plain, str) else plain


def _to_plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


FORMS: Mapping[str, Callable[[QueryAnswer, int, TextIO], bool]] = {
    "table": _print_table,
    "json": _print_json,
    "csv": _print_csv,
}
"""Form → prints at most so many rows in it, and returns whether others were left out."""


_KINDS = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


def write_parquet(answer: QueryAnswer, path: Path) -> int:
    """Write all rows of ``answer`` to ``path``, and return their number.

    A column of integers and floats is one of floats; one that also has texts is of texts.

    Raises:
        UsageError: DuckDB is not installed, or the file cannot be written.
    """
    try:
        import duckdb  # an extra, and heavy
    except ImportError as error:
        raise UsageError("Parquet needs DuckDB, which is not installed", meant=INSTALL) from error
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    with tempfile.TemporaryDirectory(prefix="harness-parquet-") as folder:
        rows = Path(folder, "rows.json")
        number, kinds = _spool_rows(answer, rows)
        columns = ", ".join(
            f"{_quote(f'c{place}')}: {_quote(kind)}" for place, kind in enumerate(kinds)
        )
        named = ", ".join(
            f'c{place} AS "{name.replace(chr(34), chr(34) * 2)}"'
            for place, name in enumerate(answer.columns)
        )
        try:
            with duckdb.connect(config={"temp_directory": folder}) as db:
                db.execute(
                    f"COPY (SELECT {named} FROM read_json({_quote(str(rows))},"  # noqa: S608
                    # Types are given: DuckDB would guess them from the first rows, and fail at a
                    # later one.
                    f" format = 'newline_delimited', columns = {{{columns}}},"
                    f" maximum_object_size = 200000000)) TO {_quote(str(beside))}"
                    " (FORMAT parquet, COMPRESSION zstd)"
                )
            beside.replace(path)
        except (duckdb.Error, OSError) as error:
            raise UsageError(f"{path} cannot be written: {error}") from error
        finally:
            beside.unlink(missing_ok=True)
    return number


INSTALL = f"Install it with: pip install '{DISTRIBUTION}[parquet]'"
"""What helps where DuckDB is missing."""


def _spool_rows(answer: QueryAnswer, place: Path) -> tuple[int, list[str]]:
    """Write the rows to ``place``, a JSON object a line; return their number and each type."""
    found: list[set[type]] = [set() for _ in answer.columns]
    number = 0
    with place.open("w", encoding="utf-8") as file:
        os.chmod(place, 0o600)  # noqa: PTH101 - what a run says is nobody else's
        for row in answer.rows:
            number += 1
            values = [one.hex() if isinstance(one, bytes) else one for one in row]
            for kinds, value in zip(found, values, strict=True):
                if value is not None:
                    kinds.add(type(value))
            told = {f"c{place}": value for place, value in enumerate(values)}
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
    return number, [_choose_kind(kinds) for kinds in found]


def _choose_kind(kinds: set[type]) -> str:
    if len(kinds) == 1:
        return _KINDS[next(iter(kinds))]
    return "VARCHAR" if str in kinds or not kinds else "DOUBLE"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
