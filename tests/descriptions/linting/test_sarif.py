"""Findings as SARIF: valid by the official schema, and what code scanning of GitHub needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from harness.descriptions.linting.findings import lint_tools, load_rules
from harness.descriptions.linting.sarif import build_sarif
from harness.types import Location, ServerSpec, Tool, ToolList, TransportSpec
from tests.descriptions.linting.test_lint import good

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text("utf-8"))
"""The schema as OASIS publishes it."""
SPEC = ServerSpec(name="shop", transport=TransportSpec(command="python", args=("src/shop.py",)))
POOR = good(
    name="find_orders",
    description="",
    input_schema={
        "type": "object",
        "properties": {"customer_id": {"type": "string"}, "order_id": {"type": "string"}},
    },
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a server in a folder of its own."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "backend"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "shop.py").write_text(
        "import mcp\n\ndef find_orders_of():\n\ndef find_orders():\n"
    )
    return folder


def told(folder: Path, *tools: Tool, spec: ServerSpec = SPEC) -> dict[str, Any]:
    return dict(build_sarif(lint_tools(ToolList(tools=tools)), spec, load_rules(), folder))


def results(log: dict[str, Any]) -> list[dict[str, Any]]:
    return list(log["runs"][0]["results"])


def prints(log: dict[str, Any]) -> list[str]:
    return [one["partialFingerprints"]["primaryLocationLineHash"] for one in results(log)]


def places(log: dict[str, Any]) -> set[tuple[str, int]]:
    found = (one["locations"][0]["physicalLocation"] for one in results(log))
    return {(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in found}


def test_the_log_is_valid_by_the_official_schema(repository: Path) -> None:
    Draft4Validator.check_schema(SCHEMA)
    for log in (told(repository, POOR), told(repository), told(repository, good())):
        assert list(Draft4Validator(SCHEMA).iter_errors(json.loads(json.dumps(log)))) == []


def test_every_result_has_what_code_scanning_needs(repository: Path) -> None:
    log = told(repository, POOR, good(read_only=None, destructive=None))
    driver = log["runs"][0]["tool"]["driver"]
    assert log["runs"][0]["automationDetails"]["id"] == "harness-lint/shop/"
    assert {one["id"] for one in driver["rules"]} == set(load_rules())
    for rule in driver["rules"]:
        assert rule["help"]["text"].startswith(rule["fullDescription"]["text"])
        assert "Evidence: " in rule["help"]["markdown"]
    for one in results(log):
        assert driver["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] == load_rules()[one["ruleId"]].severity
        assert one["message"]["text"]
        place = one["locations"][0]["physicalLocation"]
        assert not place["artifactLocation"]["uri"].startswith(("/", ".."))


def test_a_result_is_shown_where_the_tool_stands_in_the_servers_source(repository: Path) -> None:
    assert places(told(repository, POOR)) == {("backend/src/shop.py", 5)}


def test_a_server_without_source_is_shown_where_it_is_configured(repository: Path) -> None:
    at = Location(file="harness.yml", line=7)
    remote = ServerSpec(name="shop", transport=TransportSpec(url="http://127.0.0.1:1"), at=at)
    assert places(told(repository, POOR, spec=remote)) == {("backend/harness.yml", 7)}
    built_in = replace(remote, at=None)
    assert places(told(repository, POOR, spec=built_in)) == {("backend/harness.yml", 1)}


def test_no_path_of_the_machine_is_told(repository: Path, tmp_path: Path) -> None:
    outside = replace(SPEC, transport=TransportSpec(command="/usr/bin/env.py", args=()))
    assert str(tmp_path) not in json.dumps(told(repository, POOR, spec=outside))


def test_fingerprints_are_unique_and_stay_when_words_numbers_and_lines_change(
    repository: Path,
) -> None:
    before = told(repository, POOR)
    assert len(set(prints(before))) == len(results(before))
    source = repository / "src" / "shop.py"
    source.write_text(f"\n\n{source.read_text()}")
    assert prints(told(repository, POOR)) == prints(before)
    more = {**POOR.input_schema["properties"], "user_id": {"type": "string"}}
    wider = replace(POOR, input_schema={"type": "object", "properties": more})
    assert set(prints(before)) < set(prints(told(repository, wider)))
