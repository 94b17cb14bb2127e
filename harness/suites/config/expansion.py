"""Replaces ``${NAME}`` in configured text by environment variables, when the text is used.

| written | becomes |
|---|---|
| ``${NAME}`` | the variable's value; a problem when it is not set |
| ``${NAME:-text}`` | the variable's value, or ``text`` when it is not set or empty |
| ``$${NAME}`` | ``${NAME}``, literally |

A ``$`` without a brace is an ordinary character. A default contains no ``${``: it ends at the first
``}``. Nothing is expanded twice, so a value may contain anything. Messages name the variable and
never show a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.base import InvalidInput, InvalidValue, Problem, UsageError
from harness.types import JsonPath, Location

_REFERENCE = re.compile(
    r"(?P<literal>\$\$\{)|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<fallback>:-(?P<default>[^}]*))?\})?"
)


class UnsetVariable(InvalidValue):
    """A variable that configured text needs is not set."""

    def __init__(self, variable: str, *, path: JsonPath = ()) -> None:
        """``path`` leads to the text that names ``variable``."""
        super().__init__(
            f"the environment variable {variable} is not set.",
            path=path,
            meant=f"Set it, or give a default: ${{{variable}:-…}}.",
        )
        self.variable = variable


def expand_references(
    value: Any, environ: Mapping[str, str], problems: list[InvalidValue], path: JsonPath = ()
) -> Any:
    """Return ``value`` with every reference in its strings replaced, at any depth.

    A reference that cannot be replaced is left unchanged and added to ``problems``, with its path.
    """

    def expand(part: Any, at: JsonPath) -> Any:
        if isinstance(part, str):
            return _expand_text(part, environ, problems, at)
        if isinstance(part, Mapping):
            return {key: expand(item, (*at, key)) for key, item in part.items()}
        if isinstance(part, list | tuple):
            # A list stays a list and a tuple a tuple: specs are compared and hashed.
            return type(part)(expand(item, (*at, index)) for index, item in enumerate(part))
        return part

    return expand(value, path)


def _expand_text(
    text: str, environ: Mapping[str, str], problems: list[InvalidValue], path: JsonPath
) -> str:
    def replace_reference(match: re.Match[str]) -> str:
        name, found = match["name"], match[0]
        if match["literal"]:
            return "${"
        if name is None:
            message = "'${' does not begin a valid reference to a variable."
            meant = "Write ${NAME} or ${NAME:-default}, or $${ for the characters '${'."
            problems.append(InvalidValue(message, path=path, meant=meant))
            return found
        if "${" in (match["default"] or ""):
            meant = "A default is plain text: set the variable, or write the text itself."
            message = f"the default of {name} contains another reference."
            problems.append(InvalidValue(message, path=path, meant=meant))
            return found
        if match["fallback"] is not None:
            # Empty counts as unset here, as in a shell.
            return environ.get(name) or match["default"]
        if name not in environ:
            # Collected and not raised: whoever sets one variable wants to know all others, too.
            problems.append(UnsetVariable(name, path=path))
            return found
        return environ[name]

    return _REFERENCE.sub(replace_reference, text)


def build_setting_error(
    noun: str, problems: Sequence[InvalidValue], locate: Callable[[JsonPath], Location] | None
) -> UsageError:
    """Return the error for settings of ``noun``: all problems, or the first where none has a place.

    ``locate`` returns the place of a setting; ``None`` if no file has them.
    """
    if locate is None:
        return UsageError(f"{noun}: {problems[0].message}", meant=problems[0].meant)
    return InvalidInput(
        Problem(at=locate(problem.path), message=f"{noun}: {problem.message}", meant=problem.meant)
        for problem in problems
    )


def find_sole_reference(text: str) -> str | None:
    """Return the variable's name if ``text`` is exactly one reference."""
    match = _REFERENCE.fullmatch(text)
    return match["name"] if match else None
