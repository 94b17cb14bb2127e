"""Rows of a CSV or JSON Lines file, each with its line."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from harness.base.documents.files import (
    Rows,
    build_file_error,
    format_path,
    make_problem,
    read_bytes,
)
from harness.base.documents.syntax import TYPOGRAPHIC_QUOTES, strict_json
from harness.base.errors import InvalidInput, InvalidValue, Problem, did_you_mean
from harness.types import dataclass

MAX_BYTES = 5_000_000
"""Largest file; a larger table is a mistake, not a set of cases."""

QUOTES_HINT = 'Within a quoted cell every quote must be doubled: "{""ticker"":""AAPL""}".'
"""The hint for a cell with JSON that cannot be read."""

_OPENING_QUOTES = frozenset(TYPOGRAPHIC_QUOTES)


@dataclass(frozen=True, slots=True)
class Row:
    """One row below the header."""

    line: int
    """The 1-based line on which it begins; a quoted cell may span several."""
    cells: Mapping[str, str]
    """Column → text; columns that the header lacks are missing."""


Table: TypeAlias = Rows[Row]
"""A file's rows; those with too many or too few cells are problems."""


def read_table(path: Path, *, required: Sequence[str], optional: Sequence[str] = ()) -> Table:
    """Read the CSV file at ``path``, with the ``required`` and perhaps the ``optional`` columns.

    Raises:
        InvalidInput: it cannot be read, is too large, is not UTF-8, breaks CSV's syntax, or its
            header has not exactly these columns. Lesser problems are kept in `Rows.problems`.
    """
    file = format_path(path)
    raw = read_bytes(path, max_bytes=MAX_BYTES)
    text = _decode(raw, file)
    records = _iterate_records(text, file)
    first = next(records, None)
    if first is None:
        meant = f"Its first line names the columns: {','.join(required)}."
        raise build_file_error(file, 1, "the file is empty.", meant)
    line, header = first
    header = _without_empty_end(header, 0)
    _check_header(header, required, optional, file, line)
    rows, problems = [], []
    for line, whole in records:
        cells = _without_empty_end(whole, len(header))
        if len(cells) == len(header):
            rows.append(Row(line, dict(zip(header, cells, strict=True))))
        else:
            problems.append(_make_ragged_problem(file, line, cells, header))
    digest = hashlib.sha256(raw).hexdigest()
    return Rows(file=file, digest=digest, rows=tuple(rows), problems=tuple(problems))


def _decode(raw: bytes, file: str) -> str:
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = _find_line_number(raw[: error.start].decode("utf-8"))
        meant = 'Save it with the encoding UTF-8; spreadsheets call it "CSV UTF-8".'
        raise build_file_error(file, line, "the file is not UTF-8 text.", meant) from error
    if "\0" in text:
        line, meant = _find_line_number(text[: text.index("\0")]), "Is this really a CSV file?"
        raise build_file_error(file, line, "there is a NUL character.", meant)
    return text


def _find_line_number(before: str) -> int:
    """Return the number of the line after ``before``; a lone carriage return also ends a line."""
    return before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1


def _iterate_records(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every record that is not blank, with the line on which it begins."""
    # With `newline=""` a line break in a quoted cell stays what it is.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        # Read before the record: afterwards it is the line on which the record ends.
        begins = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message, meant = _explain_error(str(error))
            raise build_file_error(file, begins, message, meant) from error
        if any(cell.strip() for cell in cells):
            yield begins, cells


def _without_empty_end(cells: list[str], width: int) -> list[str]:
    """Return ``cells`` without the empty ones at the end that go beyond ``width``."""
    end = len(cells)
    while end > width and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _explain_error(words: str) -> tuple[str, str]:
    """Return a CSV parser's message in plain words, and the advice."""
    if "unexpected end of data" in words:
        return "a cell opens with a quote that is never closed.", QUOTES_HINT
    if "expected after" in words:
        return "a quoted cell goes on after its closing quote.", QUOTES_HINT
    if "field larger" in words:
        message = f"a cell has more than {csv.field_size_limit():,} characters."
        return message, "Is a closing quote missing?"
    return f"this is not CSV: {words}.", QUOTES_HINT


def _check_header(
    header: list[str], required: Sequence[str], optional: Sequence[str], file: str, line: int
) -> None:
    known = (*required, *optional)
    problems = []
    for name in dict.fromkeys(header):
        if name not in known:
            missing = [column for column in known if column not in header]
            near = did_you_mean(name.strip().lower().replace(" ", "_"), missing)
            meant = near or _suggest_separator(name) or f"The columns are {', '.join(known)}."
            problems.append(make_problem(file, line, f"there is no column {name[:60]!r}.", meant))
        elif header.count(name) > 1:
            message = f"the column {name!r} is given twice."
            problems.append(make_problem(file, line, message, "Remove one of them."))
    absent = [repr(column) for column in required if column not in header]
    if absent:
        message = f"the column {absent[0]} is missing."
        if len(absent) > 1:
            message = f"columns are missing: {', '.join(absent)}."
        meant = f"The first line of the file is: {','.join(required)}"
        problems.append(make_problem(file, line, message, meant))
    if problems:
        raise InvalidInput(problems)


def _suggest_separator(name: str) -> str | None:
    found = next((mark for mark in (";", "\t", "|") if mark in name), None)
    return None if found is None else f"Separate the columns by commas, not by {found!r}."


def _make_ragged_problem(file: str, line: int, cells: list[str], header: list[str]) -> Problem:
    columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
    # Behind a space a quote opens nothing, so the commas in the text divide it.
    if any(cell.startswith((' "', '\t"')) for cell in cells):
        meant = "Write no space between a comma and an opening quote."
    elif any(cell.strip()[:1] in _OPENING_QUOTES for cell in cells):
        meant = 'Put cells in straight quotes, ", and not in typographic ones.'
    elif len(cells) > len(header):
        meant = f"Put quotes around a cell that has commas in it. {QUOTES_HINT}"
    else:
        meant = f"Every row has the columns {', '.join(header)}; an empty one keeps its comma."
    message = f"this row has {columns}, the header has {len(header)}."
    return make_problem(file, line, message, meant)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One object."""

    line: int
    """Its 1-based line."""
    value: Mapping[str, Any]
    """The object."""


JsonLines: TypeAlias = Rows[JsonLine]
"""A file's objects, and the problems of its other lines."""


def read_json_lines(path: Path, *, max_bytes: int) -> JsonLines:
    """Read the file at ``path``.

    Raises:
        InvalidInput: it cannot be read, has more than ``max_bytes``, is not UTF-8, or is empty.
            Lesser problems are kept in `Rows.problems`.
    """
    file = format_path(path)
    raw = read_bytes(path, max_bytes=max_bytes)
    rows: list[JsonLine] = []
    problems: list[Problem] = []
    for number, text in _iterate_lines(raw, file):
        try:
            rows.append(JsonLine(number, _parse_object(text)))
        except InvalidValue as error:
            problems.append(make_problem(file, number, f"{error.message}.", error.meant))
    if not rows and not problems:
        raise build_file_error(file, 1, "the file is empty.", "Each line is a JSON object.")
    digest = hashlib.sha256(raw).hexdigest()
    return Rows(file=file, digest=digest, rows=tuple(rows), problems=tuple(problems))


def _iterate_lines(raw: bytes, file: str) -> Iterator[tuple[int, str]]:
    """Yield every line that is not blank; only a line feed ends one."""
    # Not `splitlines`, for which a carriage return alone ends a line, too.
    for number, line in enumerate(raw.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            meant = "Save it with the encoding UTF-8."
            raise build_file_error(file, number, "the file is not UTF-8 text.", meant) from error
        if text.strip():
            yield number, text


def _parse_object(text: str) -> Mapping[str, Any]:
    meant = "An array over the whole file is not JSON Lines: write one object a line."
    value = strict_json(text, meant=meant if text[:1] in "[]" else None)
    if not isinstance(value, dict):
        raise InvalidValue("this line is not a JSON object", meant="Write one object a line: {…}.")
    return value
