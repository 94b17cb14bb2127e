"""Reads datasets in CSV: one case for each row, judged by graded metrics.

`docs/datasets.md` describes the format. A dataset names neither itself nor its server: both have
the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.base import (
    QUOTES_HINT,
    TYPOGRAPHIC_QUOTES,
    InvalidInput,
    InvalidValue,
    Problem,
    Row,
    Table,
    format_path,
    parse_single_line,
    read_table,
    strict_json,
)
from harness.suites.questions import add_questions
from harness.suites.readers import Vocabulary
from harness.types import Case, Location, Suite

COLUMNS = ("test_id", "query", "expected_tool", "expected_args", "expected_response_contains")
"""The columns, in their usual order; any order is read."""
MAX_CASES = 100
"""Default limit; more cases must be requested, because each may cost a conversation and a
judgement."""
CHECK = "graded"
"""The kind of check in every row."""
NO_LIMIT = 10**9
"""More tests than a file of the largest size can contain."""

_NO_QUOTES = "Keywords have commas between them and no quotes around them; none has a comma in it."
_COLUMN_OF = {"tool": "expected_tool", "args": "expected_args"}
_TOOL_NAME = re.compile(r"[A-Za-z0-9_./:-]{1,128}")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def read_dataset(path: Path, vocabulary: Vocabulary, *, max_cases: int = MAX_CASES) -> Suite:
    """Return the suite in the CSV file at ``path``.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    table = read_table(path, required=COLUMNS)
    problems = list(table.problems)
    cases = [_read_case(row, table, vocabulary, problems) for row in table.rows]
    # Broken rows count: they are tests all the same once they are mended.
    total = len(table.rows) + len(table.problems)
    if not total:
        at = Location(file=table.file, line=1)
        message = "there is no test below the header."
        problems.append(Problem(at=at, message=message, meant="Add at least one row."))
    at = Location(file=table.file)
    problems += list_count_problems(at, total, max_cases, "tests")
    unique = collect_cases(cases, problems, "test_id", "Give each row an id of its own.")
    return Suite(name=derive_name(path), cases=add_questions(unique), digest=table.digest, at=at)


def derive_name(path: Path) -> str:
    """Return the name of the dataset at ``path``."""
    return Path(format_path(path)).stem


def list_count_problems(at: Location, total: int, most: int, noun: str) -> list[Problem]:
    """Return the problem of a dataset with more than ``most`` cases, which are called ``noun``."""
    if total <= most:
        return []
    message = f"there are {total} {noun}, and at most {most} are read."
    meant = "Split the file, or raise the limit with --max-cases."
    return [Problem(at=at, message=message, meant=meant)]


def collect_cases(
    found: Iterable[Case | None], problems: Sequence[Problem], key: str, meant: str
) -> tuple[Case, ...]:
    """Return the cases of a dataset, whose broken rows are ``None``.

    ``key`` names them; ``meant`` is the advice where two have one name.

    Raises:
        InvalidInput: there are ``problems``, or two cases have one name; in the order of lines.
    """
    cases: dict[str, Case] = {}
    twice = []
    for case in filter(None, found):
        # The first one stays, to which further messages refer.
        first = cases.setdefault(case.name, case)
        if first is not case and first.at and case.at:
            message = f"the {key} {case.name!r} is given twice; first at line {first.at.line}."
            twice.append(Problem(at=case.at, message=message, meant=meant))
    if problems or twice:
        raise InvalidInput(sorted((*problems, *twice), key=lambda problem: problem.at.line or 0))
    return tuple(cases.values())


def _read_case(
    row: Row, table: Table, vocabulary: Vocabulary, problems: list[Problem]
) -> Case | None:
    """Return the case of a row; mistakes are added to ``problems``."""
    known, at = len(problems), table.locate(row.line)

    def add_problem(message: str, meant: str | None) -> None:
        problems.append(Problem(at=at, message=message, meant=meant))

    def read_cell(column: str, read: Any) -> Any:
        try:
            return read(row.cells[column])
        except InvalidValue as error:
            add_problem(f"{column}: {error.message.rstrip('.')}.", error.meant)
            return None

    name = read_cell("test_id", lambda cell: parse_single_line(_require_text(cell).strip()))
    prompt = read_cell("query", _require_text)
    tools = read_cell("expected_tool", _parse_tools)
    arguments = read_cell("expected_args", _parse_arguments)
    if tools is not None and arguments is not None and len(tools) != len(arguments):
        told = [
            f"1 {noun}" if len(items) == 1 else f"{len(items)} {noun}s"
            for items, noun in ((tools, "tool"), (arguments, "object"))
        ]
        message = f"expected_tool names {told[0]}, expected_args holds {told[1]}."
        meant = (
            "Give one object of arguments for each tool, in the same order; {} accepts any "
            "arguments."
        )
        add_problem(message, meant)
    # Before the check is built, which would repeat the mistake in its own words.
    if len(problems) > known:
        return None
    words = read_cell("expected_response_contains", parse_keywords)
    if words is None:
        return None
    value = {
        "expected": [
            {"tool": tool, "args": args} for tool, args in zip(tools, arguments, strict=True)
        ],
        "keywords": words,
    }
    try:
        checks = tuple(check.with_location(at) for _, check in vocabulary.parse(CHECK, value))
    except InvalidValue as error:
        column = next(
            (_COLUMN_OF[str(step)] for step in error.path if step in _COLUMN_OF), COLUMNS[-1]
        )
        add_problem(f"{column}: {error.message.rstrip('.')}.", error.meant)
        return None
    return Case(name=name, prompt=prompt, checks=checks, at=at)


# ── Cells ────────────────────────────────────────────────────────────────────────────────────


def _require_text(cell: str) -> str:
    if not cell.strip():
        raise InvalidValue("it is empty")
    return cell


def parse_keywords(cell: str) -> list[str]:
    """Return the keywords in a cell, separated by commas, without the spaces around them.

    Raises:
        InvalidValue: quotes that only spell the cell stand around a keyword.
    """
    words = [word for part in cell.split(",") if (word := part.strip())]
    for place, word in enumerate(words):
        if len(word) > 1 and word[0] in TYPOGRAPHIC_QUOTES and word[-1] in TYPOGRAPHIC_QUOTES:
            raise InvalidValue(f"{word[:80]!r} stands in typographic quotes", meant=_NO_QUOTES)
        last = next((other for other in words[place:] if other.endswith('"')), word)
        if word.startswith('"') and word.count('"') == last.count('"') == 1 and last is not word:
            raise InvalidValue("a quoted keyword has a comma in it", meant=_NO_QUOTES)
    return words


def _parse_tools(cell: str) -> list[str]:
    """Return the names in ``cell``: separated by commas, or a JSON array."""
    text = cell.strip()
    if not text:
        meant = "Name a tool, or write [] if no tool has to be called."
        raise InvalidValue("it is empty", meant=meant)
    if not text.startswith("["):
        return [_parse_tool(name.strip()) for name in text.split(",")]
    names = _load_json(text)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        meant = 'Write ["get_price","get_news"].'
        raise InvalidValue("an array of tools may contain only strings", meant=meant)
    return [_parse_tool(name) for name in names]


def _parse_tool(name: str) -> str:
    if _TOOL_NAME.fullmatch(name):
        return name
    guess = "_".join(word.lower() for word in _WORDS.findall(name))
    meant = (
        f"Write the name that the server lists, probably {guess!r}."
        if guess
        else "harness tools lists the names."
    )
    # These are taken for separators by other programs.
    if any(mark in name for mark in ";|\n\t"):
        meant = "Separate the names of several tools by commas."
    raise InvalidValue(f"{name[:80]!r} is not the name of a tool", meant=meant)


def _parse_arguments(cell: str) -> list[dict[str, Any]]:
    """Return the objects in ``cell``: one, or an array of them."""
    if not cell.strip():
        raise InvalidValue("it is empty", meant="Write {} if any arguments are right.")
    value = _load_json(cell)
    objects = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) for item in objects):
        meant = 'Write {"ticker":"AAPL"}.'
        raise InvalidValue("expected a JSON object, or an array of objects", meant=meant)
    return objects


def _load_json(text: str) -> Any:
    single = "'" in text and '"' not in text
    return strict_json(
        text, meant=("JSON needs double quotes, not single ones. " if single else "") + QUOTES_HINT
    )
