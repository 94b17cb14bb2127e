"""The addresses of documentation pages in messages."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from harness.base.manual import ABOUT_COMMAND, locate_page
from harness.cli import COMMANDS, cli

ROOT = Path(__file__).parents[2]


def test_a_page_is_named_by_its_file_until_the_site_has_an_address() -> None:
    assert locate_page("suites", None) == "docs/suites.md"
    assert locate_page("suites", "https://example.com/") == "https://example.com/suites.html"


def test_every_command_has_a_page_that_exists() -> None:
    assert set(ABOUT_COMMAND) == set(COMMANDS) - {"completion"}
    assert [
        name for name in ABOUT_COMMAND.values() if not (ROOT / locate_page(name, None)).exists()
    ] == []


def test_the_help_names_the_tutorial_and_where_messages_are_explained() -> None:
    told = " ".join(CliRunner().invoke(cli, ["--help"]).output.split())
    for name in ("tutorial/index", "troubleshooting"):
        assert locate_page(name) in told
        assert (ROOT / locate_page(name, None)).exists()


def test_the_help_of_a_command_names_its_page() -> None:
    told = CliRunner().invoke(cli, ["lint", "--help"]).output
    assert told.endswith(f"Read on: {locate_page('lint')}\n")


def test_an_example_in_the_help_of_a_command_stands_on_a_line_of_its_own() -> None:
    told = CliRunner().invoke(cli, ["record", "--help"]).output
    assert (
        '  harness record --server "python my_server.py" -- claude --mcp-config {mcp_config}\n'
        in told
    )
    assert "\\b" not in told
