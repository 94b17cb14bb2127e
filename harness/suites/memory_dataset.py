"""Reads memory suites in JSON Lines: a long text in chunks, and many questions about it.

`docs/memory.md` describes the format. The columns are those of MemoryAgentBench, which users
download themselves. A file names neither itself nor its server: both have the file's name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from harness.base import (
    InvalidValue,
    JsonLine,
    JsonLines,
    Problem,
    describe_value,
    did_you_mean,
    locate_page,
    parse_items,
    parse_mapping,
    parse_single_line,
    read_json_lines,
)
from harness.suites.csv_dataset import collect_cases, derive_name, list_count_problems
from harness.suites.ingest import (
    INGEST_PROMPT,
    Session,
    build_ingest_turns,
    parse_sessions,
    parse_template,
    parse_text,
    scale_limits,
    split_into_chunks,
)
from harness.suites.memory_sources import check_category, choose_measure, list_scores
from harness.suites.readers import Vocabulary
from harness.types import Case, Check, JsonObject, Limits, Location, Suite, Turn, dataclass

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
OPTIONAL = ("name", "metadata", "metric", "chunk_chars", "at_least")
PROMPTS = ("ingest_prompt", "question_prompt")
COLUMNS = (*TOLD, *REQUIRED, *OPTIONAL, *PROMPTS)
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
    sources: Counter[str] = Counter()
    found = [
        _MemoryRowReader(lines, row, vocabulary, problems).read_case(sources) for row in lines.rows
    ]
    at = Location(file=lines.file)
    # Broken lines count: they are cases all the same once they are mended.
    total = len(lines.rows) + len(lines.problems)
    problems += list_count_problems(at, total, max_cases, "cases")
    cases = collect_cases(found, problems, "name", "Give each line a name of its own.")
    return Suite(
        name=derive_name(path),
        cases=cases,
        scores=list_scores(cases),
        isolation="case",  # a trial must not find data that another trial stored
        digest=lines.digest,
        at=at,
    )


@dataclass(frozen=True, slots=True)
class _MemoryRowReader:
    """Reads one line into a case; mistakes are added to ``problems``."""

    file: JsonLines
    row: JsonLine
    vocabulary: Vocabulary
    problems: list[Problem]

    def read_case(self, sources: Counter[str]) -> Case | None:
        known = len(self.problems)
        # First and alone: the values of columns that are mixed up tell nothing.
        self._check_columns()
        if len(self.problems) > known:
            return None
        told = self._read_sessions()
        questions = self._read_column("questions", _parse_questions)
        answers = self._read_column("answers", _parse_answers)
        if questions is not None and answers is not None and len(questions) != len(answers):
            message = f"there are {len(questions)} questions and {len(answers)} lists of answers."
            meant = "Give each question its list of accepted answers, in the same order."
            self._add_problem(message, meant)
        metadata = self._read_column("metadata", _parse_metadata, {})
        given = self._read_column("metric", _parse_metric)
        # As the line has it: what is too long for reports is not in `metadata`.
        noted = self.row.value.get("metadata") if metadata is not None else None
        source = (noted or {}).get("source")
        chosen = self._read_value("metadata", lambda: choose_measure(source, given))
        at_least = self._read_column("at_least", lambda value: value, 1.0)
        tell = self._read_column("ingest_prompt", parse_template, INGEST_PROMPT)
        parse_prompt = partial(parse_template, placeholder=QUESTION)
        ask = self._read_column("question_prompt", parse_prompt, QUESTION)
        name = self._read_column("name", parse_single_line, "")
        if len(self.problems) > known or told is None or questions is None or answers is None:
            return None
        by, competency = chosen
        # A competency's score has only answers that were compared as officially.
        if competency is not None:
            metadata = {**metadata, "category": competency}
        else:
            self._read_value("metadata", lambda: check_category(metadata.get("category")))
        checks = [self._build_checks(CHECK, {"answers": given, "by": by}) for given in answers]
        share = self._build_checks(SHARE_CHECK, {"at_least": at_least})
        if len(self.problems) > known:
            return None
        asked = tuple(
            # A new conversation each: the model must look the answer up, and not remember it.
            Turn(prompt=ask.replace(QUESTION, question), checks=each, fresh=True)
            for question, each in zip(questions, checks, strict=True)
        )
        turns = (*build_ingest_turns(told, tell), *asked)
        return Case(
            name=name or _name_case(metadata, sources, self.row.line),
            prompt=asked[0].prompt,
            turns=turns,
            checks=share,
            limits=scale_limits(Limits(), turns),
            metadata=metadata,
            at=self.file.locate(self.row.line),
        )

    def _check_columns(self) -> None:
        given = self.row.value
        for name in given:
            if name not in COLUMNS:
                missing = [column for column in COLUMNS if column not in given]
                meant = did_you_mean(name.strip().lower().replace(" ", "_"), missing)
                self._add_problem(
                    f"there is no column {name[:60]!r}.",
                    meant or f"The columns are {', '.join(COLUMNS)}.",
                )
        absent = [column for column in REQUIRED if given.get(column) is None]
        if absent:
            self._add_problem(
                f"columns are missing: {', '.join(map(repr, absent))}.",
                f"See {locate_page('memory')} for the format.",
            )
        ways = [column for column in TOLD if given.get(column) is not None]
        if not ways:
            meant = "One of them must contain the texts that the model is told."
            self._add_problem("there is neither 'context' nor 'chunks'.", meant)
        elif len(ways) > 1:
            self._add_problem("there are both 'context' and 'chunks'.", "Keep one of them.")
        elif "chunk_chars" in given and ways == ["chunks"]:
            message = "'chunk_chars' is for a 'context'; 'chunks' are not cut."
            self._add_problem(message, "Remove it.")

    def _read_sessions(self) -> tuple[Session, ...] | None:
        told: tuple[Session, ...] | None = self._read_column("chunks", parse_sessions)
        size: int | None = self._read_column("chunk_chars", _parse_size, CHUNK_CHARS)
        if size is None or self.row.value.get("chunks") is not None:
            return told

        def split_context(value: Any) -> tuple[Session, ...]:
            # As chunks, whose number has a bound.
            return parse_sessions([*split_into_chunks(parse_text(value), size)])

        cut: tuple[Session, ...] | None = self._read_column("context", split_context)
        return cut

    def _read_column(self, column: str, read: Callable[[Any], Any], default: Any = None) -> Any:
        value = self.row.value.get(column)
        return default if value is None else self._read_value(column, lambda: read(value))

    def _read_value(self, column: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except InvalidValue as error:
            # Counted from 1: `questions[3]`.
            steps = (f"[{at + 1}]" if isinstance(at, int) else f".{at}" for at in error.path)
            message = f"{column}{''.join(steps)}: {error.message.rstrip('.')}."
            self._add_problem(message, error.meant)
            return None

    def _build_checks(self, kind: str, value: Any) -> tuple[Check, ...]:
        at = self.file.locate(self.row.line)
        try:
            return tuple(check.with_location(at) for _, check in self.vocabulary.parse(kind, value))
        except InvalidValue as error:
            column = next((step for step in error.path if step in COLUMNS), "answers")
            self._add_problem(f"{column}: {error.message.rstrip('.')}.", error.meant)
            return ()

    def _add_problem(self, message: str, meant: str | None = None) -> None:
        self.problems.append(
            Problem(at=self.file.locate(self.row.line), message=message, meant=meant)
        )


# ── Columns ──────────────────────────────────────────────────────────────────────────────────


def _parse_questions(value: Any) -> list[str]:
    if not isinstance(value, list) or not value:
        message = f"expected a list of at least one question, found {describe_value(value)}"
        raise InvalidValue(message)
    if len(value) > MAX_QUESTIONS:
        raise InvalidValue(f"there are {len(value):,}; at most {MAX_QUESTIONS:,} fit a case")
    return [*parse_items(parse_text, value)]


def _parse_answers(value: Any) -> list[list[str]]:
    if not isinstance(value, list):
        message = f"expected a list, one item for each question, found {describe_value(value)}"
        raise InvalidValue(message)
    return [*parse_items(_parse_accepted, value)]


def _parse_accepted(value: Any) -> list[str]:
    """Return the accepted answers to one question, given as a text or a list of texts."""
    given = value if isinstance(value, list) else [value]
    if not given:
        meant = "Write a list of at least one text."
        raise InvalidValue("there is no accepted answer", meant=meant)
    return [parse_text(item) for item in given]


def _parse_metric(value: Any) -> str:
    if isinstance(value, str) and value in METRICS:
        return METRICS[value]
    near = did_you_mean(value, METRICS) if isinstance(value, str) else None
    message = f"expected one of {', '.join(METRICS)}; found {describe_value(value)}"
    raise InvalidValue(message, meant=near)


def _parse_metadata(value: Any) -> dict[str, Any]:
    """Return the values that are short enough for reports.

    Datasets may put whole conversations here.
    """
    parts = {key: part for key, part in parse_mapping(value).items() if part is not None}
    return {key: part for key, part in parts.items() if len(json.dumps(part)) <= MAX_METADATA}


def _parse_size(value: Any) -> int:
    # In Python `True` is an integer.
    if not isinstance(value, int) or isinstance(value, bool) or value < MIN_CHUNK_CHARS:
        raise InvalidValue(
            f"expected a whole number from {MIN_CHUNK_CHARS} up, found {describe_value(value)}"
        )
    return value


def _name_case(metadata: JsonObject, sources: Counter[str], line: int) -> str:
    """Return a name made from the dataset's own ``source``, else from the line number."""
    source = metadata.get("source")
    if not isinstance(source, str) or not source.strip():
        return f"line_{line}"
    name = "_".join(source.split())
    # Many lines of the dataset have the same source.
    sources[name] += 1
    return f"{name}_{sources[name]}"
