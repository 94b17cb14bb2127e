from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import KINDS
from harness.judging.matching.matchers import OPERATORS

DOCS = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_can_be_read(example: str) -> None:
    for name, value in yaml.safe_load(example).items():
        assert VOCABULARY.parse(name, value)


def test_every_check_stands_on_the_page_in_its_section() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| (.*) \|$", DOCS, re.MULTILINE))
    for name in KINDS.built_in_names:
        doc = KINDS.get(name).doc
        assert doc is not None
        assert f"`{name}`" in rows[doc.section]


@pytest.mark.parametrize("name", KINDS.built_in_names)
def test_every_check_has_an_example_of_itself_that_can_be_read(name: str) -> None:
    doc = KINDS.get(name).doc
    assert doc is not None
    assert doc.fails
    (example,) = yaml.safe_load(doc.example).items()
    assert example[0] == name
    assert VOCABULARY.parse(*example)


@pytest.mark.parametrize("name", KINDS.built_in_names)
def test_an_editor_is_told_what_a_check_asks(name: str) -> None:
    told = VOCABULARY.schema(name)["description"]
    assert told
    assert "](" not in told  # an editor shows no links


def test_every_matcher_has_a_row() -> None:
    for operator in OPERATORS:
        assert f"`{{{operator}: " in DOCS
