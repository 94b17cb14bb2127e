import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness.base.documents.document import read_document
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.suites.schema import SCHEMA_FILE
from harness.types import DEFAULT_TIMEOUT_S, Limits
from tests.suites.files import problems

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "suites.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SCHEMA = Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
SHIPPED = sorted((REPOSITORY / "evals").rglob("*.y*ml"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_valid_suite(example: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(example, encoding="utf-8")
    assert read_suite(path, VOCABULARY).cases
    SCHEMA.validate(read_document(path).value)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_suite_of_ours_is_valid_and_names_the_schema(path: Path) -> None:
    assert read_suite(path, VOCABULARY).cases
    SCHEMA.validate(read_document(path).value)
    first = path.read_text(encoding="utf-8").split("\n")[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named
    assert (path.parent / named[1]).resolve() == SCHEMA_FILE.resolve()


def test_the_page_names_the_true_defaults() -> None:
    limits = Limits()
    for key, default in (
        ("timeout", DEFAULT_TIMEOUT_S),
        ("max_replies", limits.max_replies),
        ("max_calls", limits.max_calls),
    ):
        assert re.search(rf"^\| `{key}` \|.*\| {default:g} \|$", PAGE, re.MULTILINE), key


def test_the_mistakes_that_the_page_shows_are_told_so(tmp_path: Path) -> None:
    text = """\
        suite: shop

        tests:
          - name: view_customer
            prompt: x
            assertions: {must_call: [x]}
            expected_tool: x



          - prompt: x
            name: view_customer
            assertions: {must_call: [x]}
    """
    told = problems(tmp_path, text, VOCABULARY)
    assert len(told) == 2
    for problem in told:
        assert f"evals/shop.yml:{problem}" in PAGE
