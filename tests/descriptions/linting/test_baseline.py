"""The ratchet: what is in the baseline is accepted, what is new is told, and what went away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base.errors import InvalidInput, UsageError
from harness.cli.commands.lint import LintResult
from harness.descriptions.linting.baseline import (
    BaselineChange,
    compare_with_baseline,
    read_baseline,
)
from harness.descriptions.linting.findings import lint_tools
from harness.types import Tool, ToolList
from tests.descriptions.linting.test_lint import DESCRIPTION, good, taking

TEXT = {"type": "string"}


def linted(*tools: Tool, tokens: int = 100) -> LintResult:
    findings = lint_tools(ToolList(tools=tools))
    return LintResult(server="shop", tools=len(tools), tokens=tokens, findings=findings, ignored=0)


def change(folder: Path, before: LintResult, after: LintResult) -> BaselineChange:
    file = folder / "baseline.json"
    file.write_text(json.dumps(before.document))
    return compare_with_baseline(after.findings, after.tokens, read_baseline(file, "shop"))


def test_a_list_that_stayed_as_it_was_has_nothing_new(tmp_path: Path) -> None:
    poor = linted(taking("note", TEXT), good(name="b", read_only=None, destructive=None))
    same = change(tmp_path, poor, poor)
    assert (same.new, same.gone, same.added_tokens) == ((), (), 0)


def test_a_second_parameter_of_a_known_rule_and_tool_is_new(tmp_path: Path) -> None:
    before = linted(taking("note", TEXT))
    after = linted(good(input_schema={"type": "object", "properties": {"note": TEXT, "y": TEXT}}))
    found = change(tmp_path, before, after)
    assert [str(key) for key, _ in found.new] == ["undescribed-parameter of get_order (y)"]
    assert found.gone == ()


def test_a_further_tool_of_a_finding_on_the_whole_list_is_new(tmp_path: Path) -> None:
    unmarked = good(read_only=None, destructive=None)
    other = good(
        name="cancel_order",
        description="Cancel an order for good and refund what was paid.",
        read_only=None,
        destructive=None,
    )
    found = change(tmp_path, linted(unmarked), linted(unmarked, other))
    assert [str(key) for key, _ in found.new] == ["unmarked (cancel_order)"]


def test_words_and_numbers_of_a_message_make_nothing_new(tmp_path: Path) -> None:
    before = linted(good(description=f"{DESCRIPTION} {'More about it. ' * 400}"))
    after = linted(good(description=f"{DESCRIPTION} {'More about it. ' * 500}"))
    assert {one.rule for one in before.findings} == {"large-tool", "provider-refuses"}
    assert change(tmp_path, before, after).new == ()


def test_what_went_away_and_how_the_tokens_changed_are_told(tmp_path: Path) -> None:
    found = change(tmp_path, linted(taking("note", TEXT)), linted(good(), tokens=1_250))
    first, *rest = found.format_lines()
    assert first.endswith("baseline.json: 0 new, 1 gone; 1,250 tokens, +1,150")
    assert rest == ["  gone: undescribed-parameter of get_order (note)"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"server": "shop", "tokens": 1, "findings": [{}]}', "\x00"]
)
def test_a_file_that_is_no_baseline_is_told_with_how_to_write_one(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="is not a baseline") as caught:
        read_baseline(file, "shop")
    assert "--json-output" in str(caught.value)


def test_the_baseline_of_another_server_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text(json.dumps(linted(good()).document))
    with pytest.raises(UsageError, match="of the server 'shop', not of 'mail'"):
        read_baseline(file, "mail")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_baseline(tmp_path / "missing.json", "shop")
