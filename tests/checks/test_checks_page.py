from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from harness.checks import KINDS, VOCABULARY
from harness.matching.matchers import OPERATORS

DOCS = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_page_can_be_read(example: str) -> None:
    for name, value in yaml.safe_load(example).items():
        assert VOCABULARY.parse(name, value)


def test_every_check_has_a_row_and_an_example() -> None:
    shown = {name for example in EXAMPLES for name in yaml.safe_load(example)}
    for name in KINDS.names():
        assert f"| `{name}` |" in DOCS
        assert name in shown or name == "all_of"


def test_every_matcher_has_a_row() -> None:
    for operator in OPERATORS:
        assert f"`{{{operator}: " in DOCS
