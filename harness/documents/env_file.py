"""A file of variables, ``NAME=value`` line by line, as clients of MCP servers and shells keep them (``.env``).

Strict: a line that is neither a variable nor a comment is an error with its number, which never
shows the value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from harness.documents.files import problem, read_bytes, shown
from harness.errors import InvalidInput, Problem

MAX_BYTES = 1_000_000
"""A larger file holds no settings."""

_VARIABLE = re.compile(r"(?:export[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?P<value>.*)")
_QUOTED = re.compile(r"""(?:'(?P<plain>[^']*)'|"(?P<escaped>(?:[^"\\]|\\.)*)")[ \t]*(?:#.*)?""")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> Mapping[str, str]:
    r"""Return the variables of the file at ``path``; of one that is given twice the later value holds.

    Blank lines and comments (``#``) are passed over, and so is ``export``. A value in single quotes
    stands for itself, one in double quotes knows ``\n``, ``\r``, ``\t``, ``\"`` and ``\\``.
    References to other variables are not replaced.

    Raises:
        InvalidInput: it cannot be read, or lines of it are no variables.
    """
    file = shown(path)
    raw = read_bytes(path, max_bytes=MAX_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput([problem(file, None, "the file is not UTF-8 text.")]) from error
    variables: dict[str, str] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not (stripped := line.strip()) or stripped.startswith("#"):
            continue
        found = _VARIABLE.fullmatch(stripped)
        value = None if found is None else _value(found["value"])
        if found is None:
            problems.append(
                problem(
                    file,
                    number,
                    "this line is no variable.",
                    "Write NAME=value, or begin it with #.",
                )
            )
        elif value is None:
            meant = (
                "Close the quote on the same line, and put nothing behind it; a line break is "
                "\\n in double quotes."
            )
            problems.append(
                problem(file, number, f"the value of {found['name']} has an open quote.", meant)
            )
        else:
            variables[found["name"]] = value
    if problems:
        raise InvalidInput(problems)
    return variables


def _value(written: str) -> str | None:
    """Return what a written value stands for; ``None`` if its quotes are not in order."""
    if not written.startswith(("'", '"')):
        return _COMMENT.sub("", written).rstrip()
    quoted = _QUOTED.fullmatch(written)
    if quoted is None:
        return None
    if quoted["plain"] is not None:
        return quoted["plain"]
    return _ESCAPE.sub(lambda part: _ESCAPES.get(part[1], part[1]), quoted["escaped"])
