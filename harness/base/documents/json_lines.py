"""Reads a file of JSON Lines as objects, each with its line.

The reader is strict, so that mistakes are reported and nothing is guessed: UTF-8 (a byte order mark
is skipped), one object for each line, no duplicate key, no NaN. Blank lines are skipped.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from harness.base.documents.files import Rows, format_path, make_problem, read_bytes
from harness.base.documents.strict_json import strict_json
from harness.base.errors import InvalidInput, InvalidValue, Problem


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
        raise InvalidInput(
            [make_problem(file, 1, "the file is empty.", "Each line is a JSON object.")]
        )
    return Rows(
        file=file,
        digest=hashlib.sha256(raw).hexdigest(),
        rows=tuple(rows),
        problems=tuple(problems),
    )


def _iterate_lines(raw: bytes, file: str) -> Iterator[tuple[int, str]]:
    """Yield every line that is not blank; only a line feed ends one."""
    # Not `splitlines`, for which a carriage return alone ends a line, too.
    for number, line in enumerate(raw.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            meant = "Save it with the encoding UTF-8."
            raise InvalidInput(
                [make_problem(file, number, "the file is not UTF-8 text.", meant)]
            ) from error
        if text.strip():
            yield number, text


def _parse_object(text: str) -> Mapping[str, Any]:
    meant = (
        "An array over the whole file is not JSON Lines: write one object a line."
        if text[:1] in "[]"
        else None
    )
    value = strict_json(text, meant=meant)
    if not isinstance(value, dict):
        raise InvalidValue("this line is not a JSON object", meant="Write one object a line: {…}.")
    return value
