"""The tools of a multi-turn case, by turn, as a server lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base import UsageError
from harness.leaderboards.bfcl.data import CLASS_FILES, class_functions
from harness.leaderboards.bfcl.schemas import json_schema
from harness.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTool:
    """One tool, as it is offered to a model."""

    name: str
    """The tool's name, and that of the method."""
    description: str
    """Description, as in the leaderboard's data."""
    parameters: JsonObject
    """A JSON Schema of an object."""
    class_name: str
    """The class that has the method."""
    from_turn: int = 0
    """First turn, counted from 0, in which the tool is offered."""


def list_class_tools(class_name: str, data: Path) -> tuple[ApiTool, ...]:
    """Return the tools of one class, described in the fetched release at ``data``.

    Raises:
        UsageError: there is no such class.
        InvalidInput: the description was not fetched, or is damaged.
    """
    if class_name not in CLASS_FILES:
        raise UsageError(
            f"BFCL has no API {class_name!r} here", meant=f"There are {', '.join(CLASS_FILES)}."
        )
    return tuple(
        ApiTool(
            name=entry["name"],
            description=entry["description"],
            parameters=json_schema(entry["parameters"]),
            class_name=class_name,
        )
        for entry in class_functions(class_name, data)
    )


def list_case_tools(
    class_names: Iterable[str], missed_function: Mapping[str, Sequence[str]], data: Path
) -> tuple[ApiTool, ...]:
    """Return every tool of a case, with the turn (in ``missed_function``) from which it is offered.

    A case's ``excluded_function`` has no effect, because upstream does not read it.
    """
    held_out = {name: int(turn) for turn, names in missed_function.items() for name in names}
    return tuple(
        replace(tool, from_turn=held_out.get(tool.name, 0))
        for class_name in class_names
        for tool in list_class_tools(class_name, data)
    )


def filter_by_turn(tools: Iterable[ApiTool], turn: int) -> tuple[ApiTool, ...]:
    """Return those of ``tools`` that are offered in ``turn``, counted from 0."""
    return tuple(tool for tool in tools if tool.from_turn <= turn)
