"""The syntax of YAML and JSON: strict reading, comments, and errors with place and cause."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from harness.base.errors import InvalidInput, InvalidValue, Problem
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
        character = "".join(text.splitlines()[line : line + 1])[column : column + 1]
        if character == "\t":
            return "Indent with spaces: YAML allows no tabs there."
        return f"Quote a text that begins with {character!r}." if character else _HINT
    return next((hint for fragment, hint in _HINTS if fragment in said), _HINT)


_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_NOT_LINE_END = re.compile(r"[^\n]")


def without_comments(text: str) -> str:
    """Return ``text`` with comments and tabs replaced by spaces, so that all positions stay.

    The result is YAML, whose flow style accepts JSON with trailing commas.
    """
    return _PART.sub(
        lambda part: part[0] if part[0].startswith('"') else _NOT_LINE_END.sub(" ", part[0]), text
    )


def require_json(text: str, file: str) -> str:
    """Return ``text`` (JSON without comments) unchanged, or raise its error as a JSON error.

    Raises:
        InvalidInput: it is not JSON; trailing commas are allowed.
    """
    try:
        # Checked as JSON first: YAML would accept much that no JSON reader does.
        json.loads(_LAST_COMMA.sub(lambda part: part[0] if part[0] != "," else " ", text))
    except json.JSONDecodeError as error:
        at = Location(file=file, line=error.lineno, column=error.colno)
        meant = "Look at the commas, quotation marks and brackets around this place."
        message = f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}."
        raise InvalidInput([Problem(at=at, message=message, meant=meant)]) from error
    except (RecursionError, ValueError):
        pass  # too deep, or a number too long: the YAML reader reports both
    return text


TYPOGRAPHIC_QUOTES = "“”„‟«»‹›‘’‚‛″′＂＇"
_SHOWN = 60
"""Most characters of an invalid text that a message quotes."""


def strict_json(text: str, *, meant: str | None = None) -> Any:
    """Return the value of ``text``; ``meant`` is the advice if it is not JSON at all.

    Raises:
        InvalidValue: it is not JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_build_object, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidValue("this is nested too deeply") from None
    except json.JSONDecodeError as error:
        what, quote = error.msg, text[error.pos : error.pos + 1]
        if quote and quote in TYPOGRAPHIC_QUOTES:
            what = f"there is a typographic quote {quote}"
            meant = 'Replace every such quote by the straight one, ".'
        place = f"at character {error.pos + 1} of {text.strip()[:_SHOWN]!r}"
        raise InvalidValue(f"this is not JSON: {what} {place}", meant=meant) from None
    except ValueError:  # Python refuses integers of more than 4300 digits
        raise InvalidValue("a number in it has too many digits") from None


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidValue(f"the key {twice[:_SHOWN]!r} is given twice")
    return found


def _no_constant(word: str) -> Any:
    raise InvalidValue(f"{word} is not a number in JSON")
