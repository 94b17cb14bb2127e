"""Explains YAML syntax errors: the location, the problem and its usual cause."""

from __future__ import annotations

import yaml

from harness.base.errors import Problem
from harness.types import Location

_HINTS = (
    ("found unexpected end of stream", "A quotation mark is opened here and never closed."),
    (
        "mapping values are not allowed",
        "Quote a text that contains ': ', or correct the indentation.",
    ),
    ("unknown escape", "Within double quotes write \\\\ for a backslash, or use single quotes."),
    ("escape code", "Write the character itself instead of its escape."),
    ("flow sequence", "A '[' is opened here; close it with ']' and put commas between its items."),
    ("flow mapping", "A '{' is opened here; close it with '}' and put commas between its keys."),
    ("expected ':'", "Write 'key: value', with a colon and a space."),
    (
        "block mapping",
        "Begin keys that belong together in the same column, and pair quotation marks.",
    ),
    ("block collection", "Begin items that belong together with '-' in the same column."),
    ("tab character", "Indent with spaces: YAML allows no tabs there."),
    ("a block scalar", "Indent the text below '|' or '>' evenly, with spaces."),
    ("directive", "Quote a text that begins with '%'."),
)
_OPENED = ("quoted scalar", "flow sequence", "flow mapping")
"""Errors that are reported at the opening mark instead of where the parser stopped."""
_HINT = "Check the indentation, the colons and the quotation marks around this place."


def explain_syntax_error(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """Return the syntax error of ``text`` as a problem of ``file``."""
    context, problem, mark = "", "", None
    if isinstance(error, yaml.MarkedYAMLError):
        context, problem = error.context or "", error.problem or "it cannot be parsed"
        # A wrong escape stands where the parser stopped, not where the text began.
        opened = any(word in context for word in _OPENED) and "escape" not in problem
        mark = (opened and error.context_mark) or error.problem_mark or error.context_mark
    if not mark:
        return Problem(at=Location(file=file), message="this is not YAML.", meant=_HINT)
    return Problem(
        at=Location(file=file, line=mark.line + 1, column=mark.column + 1),
        message=f"YAML syntax: {problem}.",
        meant=_find_hint(f"{context} {problem}", text, mark.line, mark.column),
    )


def _find_hint(said: str, text: str, line: int, column: int) -> str:
    if "cannot start any token" in said:
        character = _get_character(text, line, column)
        if character == "\t":
            return "Indent with spaces: YAML allows no tabs there."
        return f"Quote a text that begins with {character!r}." if character else _HINT
    return next((hint for fragment, hint in _HINTS if fragment in said), _HINT)


def _get_character(text: str, line: int, column: int) -> str:
    lines = text.splitlines()
    return lines[line][column : column + 1] if line < len(lines) else ""
