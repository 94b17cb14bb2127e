"""Reads the fetched files: questions, answers and functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, NothingToRun, Problem, UsageError
from harness.leaderboards.bfcl.catalog import CATEGORIES, Category
from harness.leaderboards.bfcl.source import (
    RELEASE,
    TOLD,
    data_folder,
    fetch_command,
    read_fetched_facts,
)
from harness.types import Location

CLASS_FILES: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Class of a multi-turn case → the file that describes its functions."""


@dataclass(frozen=True, slots=True)
class BfclEntry:
    """One case of the data."""

    id: str
    """The case's id."""
    category: Category
    """Its category."""
    question: Mapping[str, Any]
    """The whole line of the question file."""
    answer: Any
    """Its ground truth; ``None`` where there is none."""
    line: int
    """Line in the question file, from 1."""

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The functions that are offered from the start, as the data describes them."""
        functions: list[dict[str, Any]] = self.question.get("function", [])
        return functions


@cache
def load_entries(name: str, folder: Path) -> tuple[BfclEntry, ...]:
    """Return the cases of a category; they are read once, for both suites and recordings.

    Raises:
        NothingToRun: the cases were not fetched.
        InvalidInput: a file is damaged.
    """
    category = CATEGORIES[name]
    # The root of the cache: `data_folder` is two levels below it.
    noted = read_fetched_facts(folder.parent.parent)
    if noted is None or name not in noted["categories"]:
        command = fetch_command(name if noted else None)
        raise NothingToRun(f"BFCL's {name} cases were not fetched. Fetch them: {command}")
    file = folder / "data" / f"BFCL_v4_{category.source}.json"
    answers: list[Any] = []
    # The other rules compare with nothing.
    if category.judging in ("calls", "multi_turn", "answer"):
        lines = _iterate_lines(folder / "data" / "possible_answer" / file.name)
        answers = [line["ground_truth"] for line in lines]
    return tuple(
        BfclEntry(
            # Some categories share a file of cases, whose ids have the name of the file.
            id=question["id"].replace(category.source, name, 1),
            category=category,
            question=question,
            answer=answers[place] if answers else None,
            line=place + 1,
        )
        for place, question in enumerate(_iterate_lines(file))
    )


@cache
def _index_entries(category: str, folder: Path) -> dict[str, BfclEntry]:
    return {entry.id: entry for entry in load_entries(category, folder)}


def find_entry(case: str) -> BfclEntry:
    """Return the data of a case.

    Raises:
        UsageError: there is no such case.
    """
    category = case.rpartition("_")[0]
    found = _index_entries(category, data_folder()).get(case) if category in CATEGORIES else None
    if found is None:
        raise UsageError(f"BFCL has no case {case!r}")
    return found


def question_file(category: Category) -> str:
    """Return the path of a category's questions, for messages."""
    return str(data_folder() / "data" / f"BFCL_v4_{category.source}.json")


@cache
def class_functions(class_name: str, folder: Path) -> tuple[dict[str, Any], ...]:
    """Return the functions of a class of the multi-turn cases, as the data describes them."""
    return tuple(
        _iterate_lines(folder / "data" / "multi_turn_func_doc" / f"{CLASS_FILES[class_name]}.json")
    )


@cache
def load_earlier_messages(scenario: str, folder: Path) -> tuple[tuple[str, ...], ...]:
    """Return the user's messages before the memory cases of a scenario, by conversation."""
    lines = _iterate_lines(folder / TOLD / f"memory_{scenario}.json")
    return tuple(
        tuple("\n\n".join(message["content"] for message in said) for said in line["question"])
        for line in lines
    )


def _iterate_lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _parse_line(line, path, number)
    except OSError as error:
        meant = f"Fetch release {RELEASE} again: remove {data_folder()}, then {fetch_command()}."
        problem = Problem(
            at=Location(file=str(path)), message=f"cannot be read: {error.strerror}.", meant=meant
        )
        raise InvalidInput([problem]) from error


def _parse_line(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError as error:
        at = Location(file=str(path), line=number)
        raise InvalidInput([Problem(at=at, message=f"this line is not JSON: {error}.")]) from error
    assert isinstance(parsed, dict)
    return parsed
