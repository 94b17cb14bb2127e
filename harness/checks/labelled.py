"""Answers that people have graded, to measure a judge by: read from CSV or JSONL.

`docs/judge.md` describes the format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.checks.faithfulness import RUBRIC
from harness.checks.judge_prompt import GRADE, SCORE, Question, material_of
from harness.checks.judged import BY_RUBRIC, COMPARE
from harness.documents.csv_rows import MAX_BYTES, read_table
from harness.documents.document import shown
from harness.errors import InvalidInput, InvalidValue, Problem, did_you_mean
from harness.types import JsonObject, Location

REQUIRED = ("query", "answer", "human")
OPTIONAL = ("id", "tool_outputs", "keywords", "rubric", "expected_answer")

PASS, FAIL = "pass", "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One answer and what a person thinks of it."""

    question: Question
    """What a judge is asked of it."""
    human: str | float
    """A score from 0 to 1, ``pass`` or ``fail``, or a grade where it is compared with an expected answer."""
    at: Location
    """Where it stands."""


def read_labelled(path: Path) -> tuple[Labelled, ...]:
    """Return the labelled answers in the file at ``path``: JSONL by its extension, else CSV.

    Raises:
        InvalidInput: with every problem of the file.
    """
    records = _of_jsonl(path) if path.suffix.lower() in {".jsonl", ".ndjson"} else _of_csv(path)
    found, problems = [], []
    for at, record in records:
        try:
            found.append(_labelled(at, record))
        except InvalidValue as error:
            problems.append(Problem(at=at, message=f"{error.message.rstrip('.')}.", meant=error.meant))
    if problems:
        raise InvalidInput(problems)
    if not found:
        raise InvalidInput([Problem(at=Location(file=shown(path)), message="the file holds no labelled answer.")])
    return tuple(found)


def _of_csv(path: Path) -> list[tuple[Location, JsonObject]]:
    table = read_table(path, required=REQUIRED, optional=OPTIONAL)
    if table.problems:
        raise InvalidInput(table.problems)
    rows: list[tuple[Location, JsonObject]] = []
    for row in table.rows:
        record: dict[str, Any] = {name: cell for name, cell in row.cells.items() if cell.strip()}
        if "tool_outputs" in record and record["tool_outputs"].lstrip().startswith("["):
            record["tool_outputs"] = _json(record["tool_outputs"], table.at(row.line))
        if "keywords" in record:
            record["keywords"] = [word.strip() for word in record["keywords"].split(",") if word.strip()]
        rows.append((table.at(row.line), {"answer": "", **record}))
    return rows


def _of_jsonl(path: Path) -> Iterator[tuple[Location, JsonObject]]:
    file = shown(path)
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}."
        raise InvalidInput([Problem(at=Location(file=file), message=message)]) from error
    except UnicodeDecodeError as error:
        raise InvalidInput([Problem(at=Location(file=file), message="the file is not UTF-8 text.")]) from error
    if len(raw) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1_000_000} MB."
        raise InvalidInput([Problem(at=Location(file=file), message=message)])
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            at = Location(file=file, line=number)
            yield at, _json(line, at)


def _json(text: str, at: Location) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput([Problem(at=at, message=f"this is not JSON: {error}.")]) from error


def _labelled(at: Location, record: Any) -> Labelled:
    if not isinstance(record, Mapping):
        raise InvalidValue("each line holds one JSON object")
    for key in record:
        if key not in (*REQUIRED, *OPTIONAL):
            known = ", ".join((*REQUIRED, *OPTIONAL))
            raise InvalidValue(f"unknown key {key[:60]!r}", meant=did_you_mean(key, OPTIONAL) or f"Known: {known}.")
    for key in REQUIRED:
        if key not in record:
            raise InvalidValue(f"{key!r} is missing or empty")
    query, answer = _text(record, "query"), _text(record, "answer")
    if "rubric" in record and "expected_answer" in record:
        raise InvalidValue("give a rubric or an expected_answer, not both")
    outputs, keywords = _outputs(record.get("tool_outputs", [])), _keywords(record.get("keywords", []))
    if "expected_answer" in record:
        material = material_of(query, outputs, answer, expected_answer=_text(record, "expected_answer"))
        question = Question(instructions=COMPARE, material=material, scale=GRADE)
    elif "rubric" in record:
        instructions = BY_RUBRIC.format(rubric=_text(record, "rubric").strip())
        question = Question(instructions=instructions, material=material_of(query, outputs, answer))
    else:
        question = Question(instructions=RUBRIC, material=material_of(query, outputs, answer, keywords=keywords))
    return Labelled(question=question, human=_human(record["human"], question), at=at)


def _text(record: JsonObject, key: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise InvalidValue(f"{key!r} must be text")
    return value


def _keywords(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise InvalidValue("'keywords' must be a list of texts")
    return value


def _outputs(value: Any) -> list[JsonObject]:
    """Return tool outputs in one form: a text is the result of a tool without a name."""
    items = value if isinstance(value, list) else [value]
    outputs = [{"result": item} if isinstance(item, str) else item for item in items]
    if not all(isinstance(item, Mapping) and isinstance(item.get("result"), str) for item in outputs):
        meant = 'Write ["{\\"price\\": 187.5}"] or [{"tool": "get_price", "result": "…"}].'
        raise InvalidValue("'tool_outputs' must hold texts, or objects with a text under 'result'", meant=meant)
    return outputs


def _human(value: Any, question: Question) -> str | float:
    if question.scale is not SCORE:
        word = str(value).strip().lower()
        if word not in GRADE.grades:
            grades = ", ".join(GRADE.grades)
            raise InvalidValue(f"'human' beside an expected_answer is one of: {grades}; not {str(value)[:40]!r}")
        return word
    if isinstance(value, str) and value.strip().lower() in {PASS, FAIL}:
        return value.strip().lower()
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not 0 <= score <= 1:
        raise InvalidValue(f"'human' is a score from 0 to 1, pass or fail; not {str(value)[:40]!r}")
    return score
