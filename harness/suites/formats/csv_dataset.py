"""Datasets in CSV (`harness.suites.csv_dataset` reads them)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import BOM, HEAD, SuiteFormat

_COLUMNS = frozenset(
    {"test_id", "query", "expected_tool", "expected_args", "expected_response_contains"}
)
_ENOUGH_COLUMNS = 3
"""Columns by which a file counts as a dataset, even if another column is misspelt or missing."""
# Also those that the reader refuses, which then says what is wrong with the file.
_SEPARATORS = re.compile(r"[,;|\t]")


def _is_dataset(_path: Path, file: BinaryIO) -> bool:
    lines = file.read(HEAD).removeprefix(BOM).decode("utf-8", errors="replace").splitlines()
    header = next((line for line in lines if line.strip()), "")
    columns = {cell.strip(" \"'").lower().replace(" ", "_") for cell in _SEPARATORS.split(header)}
    return len(columns & _COLUMNS) >= _ENOUGH_COLUMNS


FORMAT = SuiteFormat(
    extensions=(".csv",),
    recognises=_is_dataset,
    looks_for="columns such as test_id, query and expected_tool",
    reads="harness.suites.csv_dataset:read_dataset",
    counts_cases=True,
    is_named_by_file=True,
)
"""``evals/prices.csv``."""
