"""Reads a ``.env`` file of variables, one ``NAME=value`` for each line.

python-dotenv reads it. What it would skip is an error with its line here: a line that is neither a
variable nor a comment. Errors never show a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from harness.base.documents.files import build_file_error, format_path, make_problem, read_bytes
from harness.base.errors import InvalidInput, Problem

MAX_BYTES = 1_000_000
"""Largest file; a larger one is not a file of settings."""

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_OPEN = re.compile(rf"(?:export\s+)?(?P<name>{_NAME.pattern})\s*=\s*['\"]")


def read_env_file(path: Path) -> Mapping[str, str]:
    r"""Return the variables of the file at ``path``; the last value of a variable counts.

    Blank lines, comments (``#``) and ``export`` are skipped. In double quotes ``\n``, ``\r``,
    ``\t``, ``\"`` and ``\\`` are escapes; a value in quotes may have several lines. References to
    other variables are not replaced.

    Raises:
        InvalidInput: it cannot be read, or a line is not a variable.
    """
    from dotenv.parser import parse_stream  # few commands read such a file

    file = format_path(path)
    raw = read_bytes(path, max_bytes=MAX_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise build_file_error(file, None, "the file is not UTF-8 text.") from error
    variables: dict[str, str] = {}
    problems: list[Problem] = []
    for found in parse_stream(StringIO(text, newline=None)):
        if found.value is not None and _NAME.fullmatch(found.key or ""):
            variables[str(found.key)] = found.value
        elif found.error or found.key is not None:
            problems.append(_describe_problem(file, found.original.line, found.original.string))
    if problems:
        raise InvalidInput(problems)
    return variables


def _describe_problem(file: str, line: int, written: str) -> Problem:
    """Return what is wrong with ``written``, which may begin with blank lines."""
    begun = written.lstrip()
    line += written.count("\n", 0, len(written) - len(begun))
    if opened := _OPEN.match(begun):
        meant = "Close the quote, with nothing after it; a line break is \\n in double quotes."
        return make_problem(file, line, f"the value of {opened['name']} has an open quote.", meant)
    meant = "Write NAME=value, or begin it with #."
    return make_problem(file, line, "this line is not a variable.", meant)
