from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import KINDS
from harness.judging.matching.matchers import OPERATORS
from tests.judging.checks.write_docs import documentation, sections, written

DOCS = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_can_be_read(example: str) -> None:
    for name, value in yaml.safe_load(example).items():
        assert VOCABULARY.parse(name, value)


def test_the_tables_are_what_the_checks_say_of_themselves() -> None:
    assert written(DOCS, documentation()) == DOCS, "python -m tests.judging.checks.write_docs"


def test_every_check_has_a_row_in_a_section_of_the_page_and_an_example_of_itself() -> None:
    docs = documentation()
    assert list(docs) == list(KINDS.built_in_names)
    assert {doc.section for doc in docs.values()} == sections(DOCS)
    for name, doc in docs.items():
        assert list(yaml.safe_load(doc.example)) == [name]
        assert doc.fails


@pytest.mark.parametrize("name", KINDS.built_in_names)
def test_an_editor_is_told_what_a_check_asks(name: str) -> None:
    told = VOCABULARY.schema(name)["description"]
    assert told
    assert "](" not in told  # an editor shows no links


def test_every_matcher_has_a_row() -> None:
    for operator in OPERATORS:
        assert f"`{{{operator}: " in DOCS
