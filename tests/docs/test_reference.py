"""The pages of the reference: they name everything that the code has."""

from __future__ import annotations

from functools import cache

import click
import pytest

import harness
from docs.site.reference import PAGES
from docs.site.reference.environment import VARIABLES, variables_in_code
from docs.site.reference.values import kind_of_value
from harness.cli import COMMANDS, cli
from harness.descriptions.linting.findings import load_rules
from harness.judging.checks import VOCABULARY
from harness.reports.querying.tables import TABLES
from harness.reports.record_fields import RECORD_FIELDS
from harness.suites.config.agents import AGENT_LAYOUT
from harness.suites.config.model_entries import MODEL
from harness.suites.config.server_entries import SERVER
from harness.suites.format_tables import build_layouts
from harness.types import JsonObject


@cache
def page(name: str) -> str:
    return PAGES[f"reference/{name}.md"]()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_every_command_is_told(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    text = page("commands").partition(f"## harness {name}\n")[2].partition("\n## ")[0]
    options = [
        option
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
        for option in param.opts
    ]
    assert [option for option in options if option not in text] == []


def test_every_check_is_told() -> None:
    told = page("checks")
    assert [name for name in VOCABULARY.names() if f"### {name}\n" not in told] == []


def test_every_key_of_suites_and_configuration_is_told() -> None:
    suite = build_layouts(VOCABULARY)
    keys = {*suite.suite.fields, *suite.test.fields, *suite.turn.fields, *suite.defaults.fields}
    assert [key for key in keys if f"| `{key}`" not in page("suite")] == []
    keys = {*MODEL.fields, *SERVER.fields, *AGENT_LAYOUT.fields}
    assert [key for key in keys if f"| `{key}`" not in page("configuration")] == []


def test_every_table_and_field_of_a_run_is_told() -> None:
    tables = page("tables")
    assert [one.name for one in TABLES if f"## {one.name}\n" not in tables] == []
    columns = {column.name for one in TABLES for column in one.columns}
    assert [name for name in columns if f"| `{name}` | " not in tables] == []
    assert "| `duration_s` | REAL |" in tables
    assert [one.name for one in RECORD_FIELDS if f"| `{one.name}` | " not in page("record")] == []


def test_every_lint_rule_is_told_with_its_evidence() -> None:
    rules, _, evidence = page("lint-rules").partition("## Evidence")
    assert [rule for rule in load_rules() if f"| `{rule}` |" not in rules] == []
    assert [rule for rule in load_rules() if f"`{rule}`" not in evidence] == []
    assert "-25.2 points [-39.0, -11.3]" in evidence.replace("\\", "")


def test_everything_that_can_be_imported_is_told_with_its_fields() -> None:
    told = page("python")
    assert [name for name in harness.__all__ if f"## {name}\n" not in told] == []
    assert "| `user_context` | `JsonObject | None` | Attributes of the user" in told
    assert "- `InvalidInput`: the file holds mistakes; each is named with its line." in told


def test_every_variable_that_the_code_reads_or_sets_is_told() -> None:
    assert set(VARIABLES) == variables_in_code()


def test_every_exit_code_is_told() -> None:
    assert "| `4` | No case failed, but some have no verdict. |" in page("environment")
    assert "| `130` |" in page("environment")


def test_every_part_that_a_key_refers_to_has_its_keys_in_the_reference() -> None:
    pages = page("suite") + page("configuration")
    assert "as under `" not in pages
    assert "`sql`, `database`, `command`" in pages


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string"}, "text"),
        ({"type": "integer", "minimum": 1}, "a whole number from 1 up"),
        ({"enum": ["a", True]}, "one of `a`, `true`"),
        ({"enum": [1, "1", "1.0"]}, "one of `1`, `1.0`"),
        (
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "text, or a list of such",
        ),
        ({"type": "object", "properties": {"a": {}, "b": {}}}, "a mapping with `a`, `b`"),
        ({"$ref": "#/$defs/server"}, "as under [`server`](configuration.md#a-server)"),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            "a mapping, each value text",
        ),
        (
            {"type": "object", "properties": {"a": {}}, "oneOf": [{"required": ["a"]}]},
            "a mapping with `a`",
        ),
        ({}, "any value"),
    ],
)
def test_a_schema_is_told_in_a_few_words(schema: JsonObject, told: str) -> None:
    assert kind_of_value(schema) == told
