"""Answers graded by people, to measure a judge: read from CSV or JSONL.

`docs/judge.md` describes the format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from harness.base import (
    MAX_BYTES,
    InvalidInput,
    InvalidValue,
    Problem,
    did_you_mean,
    format_path,
    make_problem,
    read_json_lines,
    read_table,
    strict_json,
)
from harness.judging.checks.judge.faithfulness import RUBRIC
from harness.judging.checks.judge.prompt import GRADE, SCORE, JudgeQuestion, build_material
from harness.judging.checks.kinds.answer_judge import BY_RUBRIC, COMPARE
from harness.types import JsonObject, Location

REQUIRED = ("query", "answer", "human")
OPTIONAL = ("id", "tool_outputs", "keywords", "rubric", "expected_answer")

PASS, FAIL = "pass", "fail"

_Records: TypeAlias = tuple[Sequence[tuple[Location, JsonObject]], list[Problem]]
"""Each record with its place, and the problems of other lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    """One answer and a person's grade of it."""

    question: JudgeQuestion
    """The question for a judge about it."""
    human: str | float
    """A score from 0 to 1, ``pass`` or ``fail``, or a grade if it is compared with an expected
    answer."""
    at: Location
    """Its place in the file."""


def read_labelled(path: Path) -> tuple[LabelledAnswer, ...]:
    """Return the labelled answers in the file at ``path``: JSONL by its extension, else CSV.

    Raises:
        InvalidInput: with every problem of the file.
    """
    records, problems = (
        _read_jsonl(path) if path.suffix.lower() in {".jsonl", ".ndjson"} else _read_csv(path)
    )
    found = []
    for at, record in records:
        try:
            found.append(_parse_record(at, record))
        except InvalidValue as error:
            problems.append(_build_problem(at, error))
    if problems:
        # Problems of lines and of values were found one after the other: by line they are in order.
        raise InvalidInput(sorted(problems, key=lambda problem: problem.at.line or 0))
    if not found:
        raise InvalidInput(
            [make_problem(format_path(path), None, "the file contains no labelled answer.")]
        )
    return tuple(found)


def _read_csv(path: Path) -> _Records:
    table = read_table(path, required=REQUIRED, optional=OPTIONAL)
    records, problems = [], list(table.problems)
    for row in table.rows:
        # An answer may be empty; any other empty cell is one that was left out.
        record: dict[str, Any] = {"answer": ""} | {
            name: cell for name, cell in row.cells.items() if cell.strip()
        }
        if "keywords" in record:
            record["keywords"] = [
                word.strip() for word in record["keywords"].split(",") if word.strip()
            ]
        try:
            # A cell is one output in plain text, unless it begins like a list of several.
            if record.get("tool_outputs", "").lstrip().startswith("["):
                record["tool_outputs"] = strict_json(record["tool_outputs"])
        except InvalidValue as error:
            problems.append(_build_problem(table.locate(row.line), error))
        else:
            records.append((table.locate(row.line), record))
    return records, problems


def _read_jsonl(path: Path) -> _Records:
    lines = read_json_lines(path, max_bytes=MAX_BYTES)
    return [(lines.locate(row.line), row.value) for row in lines.rows], list(lines.problems)


def _build_problem(at: Location, error: InvalidValue) -> Problem:
    return Problem(at=at, message=f"{error.message.rstrip('.')}.", meant=error.meant)


def _parse_record(at: Location, record: JsonObject) -> LabelledAnswer:
    for key in record:
        if key not in (*REQUIRED, *OPTIONAL):
            known = ", ".join((*REQUIRED, *OPTIONAL))
            raise InvalidValue(
                f"unknown key {key[:60]!r}", meant=did_you_mean(key, OPTIONAL) or f"Known: {known}."
            )
    for key in REQUIRED:
        if key not in record:
            raise InvalidValue(f"{key!r} is missing or empty")
    query, answer = _read_text(record, "query"), _read_text(record, "answer")
    if "rubric" in record and "expected_answer" in record:
        raise InvalidValue("give a rubric or an expected_answer, not both")
    outputs, keywords = (
        _read_outputs(record.get("tool_outputs", [])),
        _read_keywords(record.get("keywords", [])),
    )
    if "expected_answer" in record:
        material = build_material(
            query, outputs, answer, expected_answer=_read_text(record, "expected_answer")
        )
        question = JudgeQuestion(instructions=COMPARE, material=material, scale=GRADE)
    elif "rubric" in record:
        instructions = BY_RUBRIC.format(rubric=_read_text(record, "rubric").strip())
        question = JudgeQuestion(
            instructions=instructions, material=build_material(query, outputs, answer)
        )
    else:
        question = JudgeQuestion(
            instructions=RUBRIC, material=build_material(query, outputs, answer, keywords=keywords)
        )
    return LabelledAnswer(
        question=question, human=_read_human_grade(record["human"], question), at=at
    )


def _read_text(record: JsonObject, key: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise InvalidValue(f"{key!r} must be text")
    return value


def _read_keywords(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise InvalidValue("'keywords' must be a list of texts")
    return value


def _read_outputs(value: Any) -> list[JsonObject]:
    """Return tool outputs in one form: a text becomes the result of a tool without a name."""
    items = value if isinstance(value, list) else [value]
    outputs = [{"result": item} if isinstance(item, str) else item for item in items]
    if not all(
        isinstance(item, Mapping) and isinstance(item.get("result"), str) for item in outputs
    ):
        meant = 'Write ["{\\"price\\": 187.5}"] or [{"tool": "get_price", "result": "…"}].'
        raise InvalidValue(
            "'tool_outputs' must contain texts, or objects with a text under 'result'", meant=meant
        )
    return outputs


def _read_human_grade(value: Any, question: JudgeQuestion) -> str | float:
    if question.scale is not SCORE:
        word = str(value).strip().lower()
        if word not in GRADE.grades:
            grades = ", ".join(GRADE.grades)
            raise InvalidValue(
                f"'human' beside an expected_answer is one of: {grades}; not {str(value)[:40]!r}"
            )
        return word
    if isinstance(value, str) and value.strip().lower() in {PASS, FAIL}:
        return value.strip().lower()
    try:
        # To Python, `True` is the number 1.
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not 0 <= score <= 1:
        raise InvalidValue(f"'human' is a score from 0 to 1, pass or fail; not {str(value)[:40]!r}")
    return score
