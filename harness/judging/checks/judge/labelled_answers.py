"""Answers graded by people, to measure a judge: read from CSV or JSONL.

`docs/judge.md` describes the format.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
from harness.judging.checks.judge.prompt import GRADE, SCORE, JudgeQuestion, Scale, build_material
from harness.judging.checks.kinds.answer_judge import BY_RUBRIC, COMPARE, EXPECTED_ANSWER
from harness.types import JsonObject, Location, dataclass

REQUIRED = ("query", "answer", "human")
EXPECTED = EXPECTED_ANSWER.name
OPTIONAL = ("id", "tool_outputs", "keywords", "rubric", EXPECTED)

PASS, FAIL = "pass", "fail"


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
    records: Iterable[tuple[Location, Callable[[], JsonObject]]]
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        lines = read_json_lines(path, max_bytes=MAX_BYTES)
        problems = list(lines.problems)
        records = [(lines.locate(row.line), partial(dict, row.value)) for row in lines.rows]
    else:
        table = read_table(path, required=REQUIRED, optional=OPTIONAL)
        problems = list(table.problems)
        records = [(table.locate(row.line), partial(_parse_cells, row.cells)) for row in table.rows]
    found = []
    for at, read in records:
        try:
            found.append(_parse_record(at, read()))
        except InvalidValue as error:
            message = f"{error.message.rstrip('.')}."
            problems.append(Problem(at=at, message=message, meant=error.meant))
    if problems:
        # Problems of lines and of values were found one after the other: by line they are in order.
        raise InvalidInput(sorted(problems, key=lambda problem: problem.at.line or 0))
    if not found:
        raise InvalidInput(
            [make_problem(format_path(path), None, "the file contains no labelled answer.")]
        )
    return tuple(found)


def _parse_cells(cells: Mapping[str, str]) -> JsonObject:
    # An answer may be empty; any other empty cell is one that was left out.
    record: dict[str, Any] = {"answer": ""}
    record |= {name: cell for name, cell in cells.items() if cell.strip()}
    if "keywords" in record:
        words = map(str.strip, record["keywords"].split(","))
        record["keywords"] = [*filter(None, words)]
    # A cell is one output in plain text, unless it begins like a list of several.
    if record.get("tool_outputs", "").lstrip().startswith("["):
        record["tool_outputs"] = strict_json(record["tool_outputs"])
    return record


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
    if "rubric" in record and EXPECTED in record:
        raise InvalidValue(f"give a rubric or an {EXPECTED}, not both")
    outputs, keywords = _read_outputs(record.get("tool_outputs", [])), record.get("keywords", [])
    if not isinstance(keywords, list) or not all(isinstance(word, str) for word in keywords):
        raise InvalidValue("'keywords' must be a list of texts")
    more: JsonObject = {"keywords": keywords}
    instructions, scale = RUBRIC, SCORE
    if EXPECTED in record:
        instructions, scale, more = COMPARE, GRADE, {EXPECTED: _read_text(record, EXPECTED)}
    elif "rubric" in record:
        instructions = BY_RUBRIC.format(rubric=_read_text(record, "rubric").strip())
        more = {}
    material = build_material(query, outputs, answer, **more)
    question = JudgeQuestion(instructions=instructions, material=material, scale=scale)
    return LabelledAnswer(question=question, human=_read_grade(record["human"], scale), at=at)


def _read_text(record: JsonObject, key: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise InvalidValue(f"{key!r} must be text")
    return value


def _read_outputs(value: Any) -> list[JsonObject]:
    """Return tool outputs in one form: a text becomes the result of a tool without a name."""
    items = value if isinstance(value, list) else [value]
    outputs = [{"result": item} if isinstance(item, str) else item for item in items]
    for output in outputs:
        if not isinstance(output, Mapping) or not isinstance(output.get("result"), str):
            raise InvalidValue(
                "'tool_outputs' must contain texts, or objects with a text under 'result'",
                meant='Write ["{\\"price\\": 187.5}"] or [{"tool": "get_price", "result": "…"}].',
            )
    return outputs


def _read_grade(value: Any, scale: Scale) -> str | float:
    word = str(value).strip().lower()
    if scale is GRADE:
        if word not in GRADE.grades:
            grades = ", ".join(GRADE.grades)
            raise InvalidValue(
                f"'human' beside an {EXPECTED} is one of: {grades}; not {str(value)[:40]!r}"
            )
        return word
    if word in {PASS, FAIL}:
        return word
    try:
        # To Python, `True` is the number 1.
        score = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not 0 <= score <= 1:
        raise InvalidValue(f"'human' is a score from 0 to 1, pass or fail; not {str(value)[:40]!r}")
    return score


# ── How well two raters agree, beyond agreement by chance ────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Two raters' labels, compared pair by pair."""

    labels: tuple[str, ...]
    """The possible labels, in the order of `confusion`."""
    confusion: tuple[tuple[int, ...], ...]
    """How often the first rater chose the label of the row and the second that of the column."""

    @property
    def total(self) -> int:
        """Number of pairs."""
        return sum(map(sum, self.confusion))

    @property
    def equal_pairs(self) -> int:
        """Number of pairs with equal labels."""
        return sum(row[place] for place, row in enumerate(self.confusion))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 is full agreement, 0 is agreement by chance, below 0 is less.

        ``None`` where it is undefined: there are no pairs, or both raters gave the same label
        throughout. Source: Cohen 1960.
        """
        total = self.total
        first = [sum(row) for row in self.confusion]
        second = [sum(column) for column in zip(*self.confusion, strict=True)]
        by_chance = sum(left * right for left, right in zip(first, second, strict=True))
        # Both would divide by zero.
        if total == 0 or by_chance == total * total:
            return None
        return float((self.equal_pairs * total - by_chance) / (total * total - by_chance))


def compare_labels(pairs: Iterable[tuple[str, str]], labels: Sequence[str]) -> Agreement:
    """Compare ``(first rater's label, second rater's label)`` pairs of ``labels``."""
    counts = Counter(pairs)
    confusion = tuple(tuple(counts[row, column] for column in labels) for row in labels)
    return Agreement(labels=tuple(labels), confusion=confusion)
