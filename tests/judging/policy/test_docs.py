import json
import re
from pathlib import Path
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from harness.base.documents.document import read_document
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.suites.schema import SCHEMA_FILE
from harness.types import Access, RefusalShape

PAGE = (Path(__file__).parents[3] / "docs" / "matrix.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SCHEMA = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_valid_suite(example: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(example, encoding="utf-8")
    asked = {case.caller.identity for case in read_suite(path, VOCABULARY).cases}
    assert len(asked) >= 3  # a matrix compares identities
    SCHEMA.validate(read_document(path).value)


def test_every_decision_and_every_shape_has_its_word() -> None:
    for word in (*get_args(Access), *get_args(RefusalShape)):
        assert f"`{word}`" in PAGE
