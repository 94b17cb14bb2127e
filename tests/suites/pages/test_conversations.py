import re
from pathlib import Path

import pytest

from harness.base.documents.document import read_document
from harness.judging.checks import VOCABULARY
from harness.suites.config import load_config
from harness.suites.in_python.suite import read_object
from harness.suites.readers import read_suite
from tests.suites.test_docs import SCHEMA

PAGE = (Path(__file__).parents[3] / "docs" / "conversations.md").read_text(encoding="utf-8")
YAML = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(PYTHON,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", [text for text in YAML if text.startswith("suite:")])
def test_every_suite_of_the_page_is_valid(example: str, tmp_path: Path) -> None:
    path = tmp_path / "example.yml"
    path.write_text(example, encoding="utf-8")
    assert read_suite(path, VOCABULARY).cases
    SCHEMA.validate(read_document(path).value)


def test_the_servers_of_the_page_are_read_with_their_state(tmp_path: Path) -> None:
    [example] = [text for text in YAML if text.startswith("servers:")]
    (tmp_path / "harness.yml").write_text(example, encoding="utf-8")
    server = load_config(tmp_path, {}).resolve_server("shop", "shop")
    assert server.reset is not None
    assert (server.reset.tool, server.isolation, sorted(server.queries)) == (
        "reset_database",
        "case",
        ["audit", "open_orders"],
    )


def test_the_suite_in_python_of_the_page_has_a_user_who_is_played_by_its_function() -> None:
    space: dict[str, object] = {"__name__": "page"}
    exec(compile(PYTHON, "conversations.md", "exec"), space)
    [case] = read_object(space["Patience"], VOCABULARY).cases
    assert case.user is not None
    assert [case.user.code(("",) * heard) for heard in (1, 7)] == ["Where is my order?", None]
