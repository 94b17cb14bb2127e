"""A draft gets a file of its own, and nothing is ever overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.descriptions.drafting.files import require_free, suite_name, write_new
from harness.suites.config.servers import parse_server_command
from harness.suites.schema import SCHEMA_FILE
from harness.types import ServerSpec

SUITE = "suite: {name}\ntests:\n  - {{name: a, prompt: b, assertions: {{must_call: [c]}}}}\n"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python my_server.py", "my_server"),
        ("python -m shop.server", "shop"),
        ("npx -y @acme/shop-server /tmp", "shop-server"),
        ("node /srv/shop-mcp/dist/index.js", "shop-mcp"),
        ("uv run --directory billing server.py", "billing"),
        ("'/opt/my tools/ß!.py'", "first"),
        ("python index.py", "first"),
    ],
)
def test_a_suite_is_named_by_what_the_command_says(command: str, name: str) -> None:
    assert suite_name(parse_server_command(command)) == name


def test_a_name_that_was_asked_for_is_made_fit_for_a_file() -> None:
    server = ServerSpec(name="x")
    assert suite_name(server, "../Größe: 1") == "Gr_e_1"
    assert suite_name(server, "-rf") == "rf"
    assert len(suite_name(server, "a" * 500)) <= 60
    with pytest.raises(UsageError, match="cannot be the name of a file"):
        suite_name(server, "…/…")


def test_a_file_that_exists_is_never_overwritten_and_another_name_is_offered(
    tmp_path: Path,
) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "shop.yml").write_text("mine")
    (tmp_path / "evals" / "shop_2.yml").write_text("mine")
    with pytest.raises(UsageError, match=r"nothing is ever overwritten\n.*--name shop_3"):
        require_free("shop", tmp_path)


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "shop.yml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="nothing is ever overwritten"):
        require_free("shop", tmp_path)
    with pytest.raises(UsageError, match="nothing is ever overwritten"):
        write_new(tmp_path / "evals" / "shop.yml", "text")
    assert not (tmp_path / "elsewhere").exists()


def test_a_name_that_another_suite_of_the_project_has_is_taken(tmp_path: Path) -> None:
    (tmp_path / "evals" / "old").mkdir(parents=True)
    (tmp_path / "evals" / "old" / "first.yml").write_text(SUITE.format(name="shop"))
    with pytest.raises(UsageError, match="there is a suite named 'shop'"):
        require_free("shop", tmp_path)
    assert require_free("store", tmp_path) == tmp_path / "evals" / "store.yml"


def test_the_schema_is_put_beside_the_suite(tmp_path: Path) -> None:
    path = tmp_path / "evals" / "shop.yml"
    assert write_new(path, "text\n") == (path, path.with_name("suite.schema.json"))
    assert path.read_text() == "text\n"
    assert path.with_name("suite.schema.json").read_bytes() == SCHEMA_FILE.read_bytes()


def test_a_schema_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "suite.schema.json").write_text("{}")
    assert write_new(tmp_path / "shop.yml", "text") == (tmp_path / "shop.yml",)
    assert (tmp_path / "suite.schema.json").read_text() == "{}"


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "evals").write_text("a file")
    with pytest.raises(UsageError, match="cannot be written"):
        write_new(tmp_path / "evals" / "shop.yml", "text")
