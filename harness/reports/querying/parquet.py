"""Writes what a question in SQL comes to as Parquet, by DuckDB (the extra ``parquet``)."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from pathlib import Path

from harness.base import UsageError
from harness.reports.querying.sql_query import QueryAnswer
from harness.version import DISTRIBUTION

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
