"""The leaderboard's fixed tables (fares, stock quotes, texts …), read from its package as data.

The package ships these tables as constants in Python modules. They are the leaderboard's data, so
they are not part of this project. The package's code is never run: a module is only parsed, and the
only values kept are literals that it assigns to plain names (`ast.literal_eval`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.base import UsageError

SOURCES = Path("eval_checker", "multi_turn_eval", "func_source_code")
"""Folder of the modules in the package, beside ``data``."""

MODULES: Mapping[str, str] = {
    "MessageAPI": "message_api.py",
    "TicketAPI": "ticket_api.py",
    "TradingBot": "trading_bot.py",
    "TravelAPI": "travel_booking.py",
    "TwitterAPI": "posting_api.py",
    "VehicleControlAPI": "vehicle_control.py",
}
"""Class name → the module that holds its tables; the other classes need none."""

LONG_CONTEXT = "long_context.py"
"""The module of the long texts, which every class may use."""


class ApiTables(Mapping[str, Any]):
    """The tables of one class, by the package's own names.

    A missing table raises a `UsageError` that names the file.
    """

    def __init__(self, values: Mapping[str, Any], *, origin: str) -> None:
        """``origin`` is the file of the values, for the error."""
        self._values = values
        self._origin = origin

    def __getitem__(self, name: str) -> Any:
        """Return the table ``name``."""
        if name not in self._values:
            message = f"{self._origin} holds no table {name!r}"
            raise UsageError(message, meant="Fetch it again: harness fetch bfcl")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self._values)


def read_tables(package: Path, class_name: str, *, long_context: bool) -> ApiTables:
    """Return the tables of ``class_name``, with the long texts if asked for.

    ``package`` is the folder that holds the leaderboard's ``data``, as ``harness fetch bfcl``
    leaves it.
    """
    values: dict[str, Any] = {}
    # The module of the class comes last, so that its own tables win.
    for module in (LONG_CONTEXT if long_context else None, MODULES.get(class_name)):
        if module is not None:
            values.update(_read_constants(package / SOURCES / module))
    return ApiTables(values, origin=str(package / SOURCES / MODULES.get(class_name, LONG_CONTEXT)))


@lru_cache(maxsize=32)
def _read_constants(module: Path) -> dict[str, Any]:
    try:
        return parse_constants(module.read_text("utf-8"))
    # A ValueError: not UTF-8, or a null character.
    except (OSError, ValueError, SyntaxError) as problem:
        raise UsageError(
            f"cannot read {module}: {problem}", meant="Fetch it: harness fetch bfcl"
        ) from None


def parse_constants(source: str) -> dict[str, Any]:
    """Return the literals that Python ``source`` assigns to plain names, at any level of nesting.

    If a name is assigned several times, the outermost assignment counts.
    """
    found: dict[str, Any] = {}
    # Breadth first: a module's own constants before those of a function.
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        if name not in found:
            try:
                found[name] = ast.literal_eval(value)
            except ValueError:  # computed, not literal
                continue
    return found
