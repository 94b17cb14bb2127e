"""Reads a ``.env`` file of variables, one ``NAME=value`` for each line.

The reader is strict: a line that is neither a variable nor a comment is an error with its number.
Errors never show a value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.base.documents.files import format_path, make_problem, read_bytes
from harness.base.errors import InvalidInput, Problem

MAX_BYTES = 1_000_000
"""Largest file; a larger one is not a file of settings."""

_VARIABLE = re.compile(r"(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?P<value>.*)")
_QUOTED = re.compile(r"""(?:'(?P<plain>[^']*)'|"(?P<escaped>(?:[^"\\]|\\.)*)")[ \t]*(?:#.*)?""")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> Mapping[str, str]:
    r"""Return the variables of the file at ``path``; the last value of a variable counts.

    Blank lines, comments (``#``) and ``export`` are skipped. A value in single quotes is literal;
    in double quotes ``\n``, ``\r``, ``\t``, ``\"`` and ``\\`` are escapes. References to other
    variables are not replaced.

    Raises:
        InvalidInput: it cannot be read, or a line is not a variable.
    """
    file = format_path(path)
    raw = read_bytes(path, max_bytes=MAX_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput([make_problem(file, None, "the file is not UTF-8 text.")]) from error
    variables: dict[str, str] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (stripped := line.strip()) or stripped.startswith("#"):
            continue
        found = _VARIABLE.fullmatch(stripped)
        value = None if found is None else _parse_value(found["value"])
        if found is None:
            problems.append(
                make_problem(
                    file,
                    number,
                    "this line is not a variable.",
                    "Write NAME=value, or begin it with #.",
                )
            )
        elif value is None:
            meant = (
                "Close the quote on the same line, with nothing after it; a line break is \\n in "
                "double quotes."
            )
            problems.append(
                make_problem(
                    file, number, f"the value of {found['name']} has an open quote.", meant
                )
            )
        else:
            variables[found["name"]] = value
    if problems:
        raise InvalidInput(problems)
    return variables


def _parse_value(written: str) -> str | None:
    """Return the value without quotes and escapes; ``None`` if its quotes are not balanced."""
    if not written.startswith(("'", '"')):
        return _COMMENT.sub("", written).rstrip()
    quoted = _QUOTED.fullmatch(written)
    if quoted is None:
        return None
    if quoted["plain"] is not None:
        return quoted["plain"]
    return _ESCAPE.sub(lambda part: _ESCAPES.get(part[1], part[1]), quoted["escaped"])
