"""The functions of the fetched cases as tools, to make tool lists longer."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.base import NothingToRun
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.data import entries_of
from harness.leaderboards.bfcl.schemas import description_of, parameters_of
from harness.leaderboards.bfcl.source import data_folder, fetch_command, fetched
from harness.types import Tool

_FROM = ("multiple", "live_multiple", "simple_python")
"""Categories whose cases offer plain functions; functions of earlier ones come first."""


def functions() -> tuple[Tool, ...]:
    """Return the functions of the fetched single-reply cases, each name once.

    Raises:
        NothingToRun: none of them was fetched.
    """
    return _functions(data_folder())


@cache
def _functions(folder: Path) -> tuple[Tool, ...]:
    noted = fetched(folder.parent.parent)
    there = [] if noted is None else [name for name in _FROM if name in noted["categories"]]
    if not there:
        raise NothingToRun(f"decoys from BFCL need its data. Fetch them: {fetch_command(_FROM[0])}")
    tools: dict[str, Tool] = {}
    for name in there:
        language = CATEGORIES[name].language
        for entry in entries_of(name, folder):
            for one in entry.functions:
                tools.setdefault(
                    one["name"],
                    Tool(
                        name=one["name"],
                        description=description_of(one, language),
                        input_schema=parameters_of(one, language),
                    ),
                )
    return tuple(tools.values())
