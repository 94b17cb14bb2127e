"""Reads memory suites in JSON Lines: a long text in chunks, and many questions about it.

`docs/memory.md` describes the format. The columns are those of MemoryAgentBench, which users
download themselves. A file names neither itself nor its server: both have the file's name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base import (
    InvalidInput,
    InvalidValue,
    JsonLine,
    JsonLines,
    Problem,
    as_line,
    as_mapping,
    did_you_mean,
    found,
    page,
    read_json_lines,
    shown,
)
from harness.suites.chunks import chunks_of
from harness.suites.ingest import (
    INGEST_PROMPT,
    Session,
    ingest_turns,
    roomy,
    sessions,
    template,
)
from harness.suites.readers import Vocabulary
from harness.types import Case, Check, Limits, Location, Suite, Turn

MAX_BYTES = 100_000_000
"""Largest file; the longest published contexts have a few megabytes each."""
MAX_CASES = 100
"""Default limit of cases in one file."""
MAX_QUESTIONS = 1000
"""Most questions about one context."""
CHUNK_CHARS = 4096
"""Default length of a chunk of a context, in characters."""
MIN_CHUNK_CHARS = 100
"""Shorter chunks would not contain a sentence."""
MAX_METADATA = 1000
"""Longest value of ``metadata`` that is copied to the reports, in characters of JSON."""
QUESTION = "{question}"
"""Placeholder for the question in ``question_prompt``."""

REQUIRED = ("questions", "answers")
TOLD = ("context", "chunks")
OPTIONAL = (
    "name",
    "metadata",
    "metric",
    "chunk_chars",
    "at_least",
    "ingest_prompt",
    "question_prompt",
)
COLUMNS = (*TOLD, *REQUIRED, *OPTIONAL)
"""Every column."""

METRICS: Mapping[str, str] = {
    "substring": "substring",
    "exact": "exact",
    "recall": "recall",
    "substring_exact_match": "substring",
    "exact_match": "exact",
}
"""``metric`` → the value of ``by`` of `remembers`; the last two are the dataset's own names."""

CHECK, SHARE_CHECK = "remembers", "turns_passed"
"""The check of every question, and the check of every case."""


def read_memory(path: Path, vocabulary: Vocabulary, *, max_cases: int = MAX_CASES) -> Suite:
    """Return the suite in the JSON Lines file at ``path``.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    lines = read_json_lines(path, max_bytes=MAX_BYTES)
    problems = list(lines.problems)
    cases: dict[str, Case] = {}
    sources: Counter[str] = Counter()
    for row in lines.rows:
        case = _Row(lines, row, vocabulary, problems).case(sources)
        if case is None:
            continue
        if first := cases.get(case.name):
            message = (
                f"the name {case.name!r} is given twice; first at line "
                f"{first.at.line if first.at else '?'}."
            )
            problems.append(
                Problem(
                    at=lines.at(row.line),
                    message=message,
                    meant="Give each line a name of its own.",
                )
            )
        cases.setdefault(case.name, case)
    total = len(lines.rows) + len(lines.problems)
    if total > max_cases:
        message = f"there are {total} cases, and at most {max_cases} are read."
        meant = "Split the file, or raise the limit with --max-cases."
        problems.append(Problem(at=Location(file=lines.file), message=message, meant=meant))
    if problems:
        raise InvalidInput(sorted(problems, key=lambda problem: problem.at.line or 0))
    return Suite(
        name=Path(shown(path)).stem,
        cases=tuple(cases.values()),
        isolation="case",  # a trial must not find data that another trial stored
        digest=lines.digest,
        at=Location(file=lines.file),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """Reads one line into a case; mistakes are added to ``problems``."""

    file: JsonLines
    row: JsonLine
    vocabulary: Vocabulary
    problems: list[Problem]

    def case(self, sources: Counter[str]) -> Case | None:
        known = len(self.problems)
        self._check_columns()
        if len(self.problems) > known:
            return None
        told = self._told()
        questions = self._taken("questions", _questions)
        answers = self._taken("answers", _answers)
        if questions is not None and answers is not None and len(questions) != len(answers):
            message = f"there are {len(questions)} questions and {len(answers)} lists of answers."
            self._problem(
                message, "Give each question its list of accepted answers, in the same order."
            )
        metadata = self._taken("metadata", _metadata, {})
        by = self._taken("metric", _metric, "substring")
        at_least = self._taken("at_least", lambda value: value, 1.0)
        tell = self._taken("ingest_prompt", template, INGEST_PROMPT)
        ask = self._taken("question_prompt", lambda value: template(value, QUESTION), QUESTION)
        name = self._taken("name", as_line, "")
        if len(self.problems) > known or told is None or questions is None or answers is None:
            return None
        checks = [self._checks(CHECK, {"answers": given, "by": by}) for given in answers]
        share = self._checks(SHARE_CHECK, {"at_least": at_least})
        if len(self.problems) > known:
            return None
        asked = tuple(
            Turn(prompt=ask.replace(QUESTION, question), checks=each, fresh=True)
            for question, each in zip(questions, checks, strict=True)
        )
        turns = (*ingest_turns(told, tell), *asked)
        return Case(
            name=name or _name(metadata, sources, self.row.line),
            prompt=asked[0].prompt,
            turns=turns,
            checks=share,
            limits=roomy(Limits(), turns),
            metadata=metadata,
            at=self.file.at(self.row.line),
        )

    def _check_columns(self) -> None:
        given = self.row.value
        for name in given:
            if name not in COLUMNS:
                missing = [column for column in COLUMNS if column not in given]
                meant = did_you_mean(name.strip().lower().replace(" ", "_"), missing)
                self._problem(
                    f"there is no column {name[:60]!r}.",
                    meant or f"The columns are {', '.join(COLUMNS)}.",
                )
        absent = [column for column in REQUIRED if given.get(column) is None]
        if absent:
            self._problem(
                f"columns are missing: {', '.join(map(repr, absent))}.",
                f"See {page('memory')} for the format.",
            )
        ways = [column for column in TOLD if given.get(column) is not None]
        if not ways:
            self._problem(
                "there is neither 'context' nor 'chunks'.",
                "One of them must contain the texts that the model is told.",
            )
        elif len(ways) > 1:
            self._problem("there are both 'context' and 'chunks'.", "Keep one of them.")
        elif "chunk_chars" in given and ways == ["chunks"]:
            self._problem(
                "'chunk_chars' is for a 'context'; 'chunks' are not cut.",
                "Remove it.",
            )

    def _told(self) -> tuple[Session, ...] | None:
        if self.row.value.get("chunks") is not None:
            told: tuple[Session, ...] | None = self._taken("chunks", sessions)
            return told
        size: int | None = self._taken("chunk_chars", _size, CHUNK_CHARS)
        text: str | None = self._taken("context", _text)
        if size is None or text is None:
            return None
        cut: tuple[Session, ...] | None = self._taken(
            "context", lambda _: sessions([*chunks_of(text, size)])
        )
        return cut

    def _taken(self, column: str, read: Callable[[Any], Any], default: Any = None) -> Any:
        value = self.row.value.get(column)
        if value is None:
            return default
        try:
            return read(value)
        except InvalidValue as error:
            self._problem(
                f"{_place(column, error.path)}: {error.message.rstrip('.')}.", error.meant
            )
            return None

    def _checks(self, kind: str, value: Any) -> tuple[Check, ...]:
        at = self.file.at(self.row.line)
        try:
            return tuple(check.placed(at) for _, check in self.vocabulary.parse(kind, value))
        except InvalidValue as error:
            column = next((step for step in error.path if step in COLUMNS), "answers")
            self._problem(f"{column}: {error.message.rstrip('.')}.", error.meant)
            return ()

    def _problem(self, message: str, meant: str | None = None) -> None:
        self.problems.append(Problem(at=self.file.at(self.row.line), message=message, meant=meant))


# ── Columns ──────────────────────────────────────────────────────────────────────────────────


def _text(value: Any) -> str:
    if not isinstance(value, str):
        meant = "Quote it." if isinstance(value, int | float) else None
        raise InvalidValue(f"expected a text, found {found(value)}", meant=meant)
    if not value.strip():
        raise InvalidValue("it is empty")
    return value


def _questions(value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        raise InvalidValue(f"expected a list of at least one question, found {found(value)}")
    if len(value) > MAX_QUESTIONS:
        raise InvalidValue(f"there are {len(value):,}; at most {MAX_QUESTIONS:,} fit a case")
    return [_each(_text, item, place) for place, item in enumerate(value)]


def _answers(value: Any) -> list[list[str]]:
    if not isinstance(value, list):
        raise InvalidValue(f"expected a list, one item for each question, found {found(value)}")
    return [_each(_accepted, item, place) for place, item in enumerate(value)]


def _accepted(value: Any) -> list[str]:
    """Return the accepted answers to one question, given as a text or a list of texts."""
    given = value if isinstance(value, list) else [value]
    if not given:
        raise InvalidValue(
            "there is no accepted answer", meant="Write a list of at least one text."
        )
    return [_text(item) for item in given]


def _each(read: Callable[[Any], Any], item: Any, place: int) -> Any:
    try:
        return read(item)
    except InvalidValue as error:
        raise InvalidValue(error.message, path=(place, *error.path), meant=error.meant) from None


def _metric(value: Any) -> str:
    if isinstance(value, str) and value in METRICS:
        return METRICS[value]
    near = did_you_mean(value, METRICS) if isinstance(value, str) else None
    raise InvalidValue(f"expected one of {', '.join(METRICS)}; found {found(value)}", meant=near)


def _metadata(value: Any) -> dict[str, Any]:
    """Return the values that are short enough for reports.

    Datasets may put whole conversations here.
    """
    parts = {key: part for key, part in as_mapping(value).items() if part is not None}
    return {key: part for key, part in parts.items() if len(json.dumps(part)) <= MAX_METADATA}


def _size(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < MIN_CHUNK_CHARS:
        raise InvalidValue(
            f"expected a whole number from {MIN_CHUNK_CHARS} up, found {found(value)}"
        )
    return value


def _place(column: str, path: tuple[str | int, ...]) -> str:
    """Return ``questions[3]``, counted from 1."""
    return column + "".join(
        f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path
    )


def _name(metadata: Mapping[str, Any], sources: Counter[str], line: int) -> str:
    """Return a name made from the dataset's own ``source``, else from the line number."""
    source = metadata.get("source")
    if not isinstance(source, str) or not source.strip():
        return f"line_{line}"
    name = "_".join(source.split())
    sources[name] += 1
    return f"{name}_{sources[name]}"
