"""The functions of the fetched cases as tools, to make tool lists longer."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.base import NothingToRun
from harness.leaderboards.bfcl.catalog import CATEGORIES
from harness.leaderboards.bfcl.data import load_entries
from harness.leaderboards.bfcl.schemas import build_description, build_parameters
from harness.leaderboards.bfcl.source import data_folder, fetch_command, read_fetched_facts
from harness.types import Tool

_FROM = ("multiple", "live_multiple", "simple_python")
"""Categories whose cases offer plain functions; functions of earlier ones come first."""


def list_functions() -> tuple[Tool, ...]:
    """Return the functions of the fetched single-reply cases, each name once.

    Raises:
        NothingToRun: none of them was fetched.
    """
    return _load_functions(data_folder())


@cache
def _load_functions(folder: Path) -> tuple[Tool, ...]:
    noted = read_fetched_facts(folder.parent.parent)
    there = [] if noted is None else [name for name in _FROM if name in noted["categories"]]
    if not there:
        raise NothingToRun(f"decoys from BFCL need its data. Fetch them: {fetch_command(_FROM[0])}")
    tools: dict[str, Tool] = {}
    for name in there:
        language = CATEGORIES[name].language
        for entry in load_entries(name, folder):
            for function in entry.functions:
                tools.setdefault(
                    function["name"],
                    Tool(
                        name=function["name"],
                        description=build_description(function, language),
                        input_schema=build_parameters(function, language),
                    ),
                )
    return tuple(tools.values())
