"""The documentation page on memory is true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness.base.builtin import builtin_servers, builtin_suites
from harness.base.documents.document import read_document
from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.ingest import INGEST_PROMPT
from harness.suites.memory_dataset import (
    CHUNK_CHARS,
    COLUMNS,
    MAX_BYTES,
    MAX_CASES,
    MAX_METADATA,
    MAX_QUESTIONS,
    METRICS,
)
from harness.suites.readers import read_suite
from harness.suites.schema import SCHEMA_FILE
from servers.memory.embedding import DIMENSIONS
from servers.memory.sizes import ARCHIVAL, CORE, SUMMARY_CHARACTERS

PAGE = (Path(__file__).parents[3] / "docs" / "memory.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("language", "suffix"), [("yaml", "yml"), ("json", "jsonl")])
def test_the_suites_in_the_page_are_valid(language: str, suffix: str, tmp_path: Path) -> None:
    (text,) = examples(language)
    path = tmp_path / f"family.{suffix}"
    path.write_text(text, encoding="utf-8")
    (case,) = read_suite(path, VOCABULARY).cases
    assert len([turn for turn in case.turns if turn.checks]) == 2
    if language == "yaml":
        Draft202012Validator(json.loads(SCHEMA_FILE.read_text("utf-8"))).validate(
            read_document(path).value
        )
    else:
        assert case.name == "family_1"


def test_the_page_names_every_column_and_the_true_numbers() -> None:
    assert not [name for name in (*COLUMNS, *METRICS) if f"`{name}`" not in PAGE]
    for told in (
        f"{CHUNK_CHARS} |",
        f"up to {MAX_QUESTIONS:,},",
        f"more than {MAX_METADATA:,} characters",
        f"has at most {MAX_BYTES // 1_000_000} MB, and at most {MAX_CASES} lines",
        f"Core memory has {CORE.entries} entries of {CORE.characters} characters",
        f"archival memory {ARCHIVAL.entries} entries of {ARCHIVAL.characters:,} characters,",
        f"the single text {SUMMARY_CHARACTERS:,} characters",
        f"into {DIMENSIONS:,} dimensions",
        f"*{INGEST_PROMPT.partition(chr(10))[0]}*",
    ):
        assert told in WORDS, told


def test_the_page_names_every_built_in_memory_server() -> None:
    names = [name for name in builtin_servers() if name.startswith("memory")]
    assert len(names) == 5
    assert not [name for name in names if f"`{name}`" not in PAGE]


def test_our_own_set_is_what_the_page_says() -> None:
    cases = read_suite(builtin_suites() / "memory.jsonl", VOCABULARY).cases
    asked = sum(not turn.ingest for case in cases for turn in case.turns)
    assert (len(cases), asked) == (3, 10)


def test_the_mistakes_that_the_page_shows_are_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = (
        '{"context": "x", "questions": ["a", "b"], "answers": [["x"]]}',
        "{",
        '{"context": "x", "question": ["a"], "answers": [["x"]]}',
    )
    path = Path("mine.jsonl")
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidInput) as caught:
        read_suite(path, VOCABULARY)
    assert str(caught.value) in PAGE
