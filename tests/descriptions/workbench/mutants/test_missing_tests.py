"""The test that a survivor asks for is a test: pasted into a suite, the suite can be read."""

from __future__ import annotations

from pathlib import Path

import yaml

from harness.api import load_suite
from harness.descriptions.workbench.mutants.kill_score import missing_test
from harness.descriptions.workbench.mutants.planting import OPERATORS, plant_mutants
from harness.types import Tool
from tests.descriptions.workbench.mutants.tools import TOOLS


def test_every_missing_test_can_be_pasted_into_a_suite(tmp_path: Path) -> None:
    for number, mutant in enumerate(plant_mutants(TOOLS, 1_000, 0).mutants):
        file = tmp_path / f"s{number}.yml"
        file.write_text(f"suite: s\nserver: {{command: x}}\ntests:\n{missing_test(mutant)}")
        (case,) = load_suite(file).cases
        assert case.prompt is not None
        assert "TODO" in case.prompt
        assert mutant.tool in case.prompt


def test_it_asks_for_the_value_that_is_missing_and_for_none_of_the_rivals() -> None:
    mutants = plant_mutants(TOOLS, 1_000, 0).mutants
    removed = next(one for one in mutants if one.operator == "member-removed")
    (asked,) = yaml.safe_load(missing_test(removed))
    assert asked["assertions"]["must_call"] == [
        {"tool": "search_orders", "args": {"status": removed.value[0]}}
    ]
    swapped = next(one for one in mutants if one.operator == "swapped-texts")
    (asked,) = yaml.safe_load(missing_test(swapped))
    assert asked["assertions"]["must_not_call"] == [swapped.other]


def test_hidden_characters_of_a_server_stand_as_escapes() -> None:
    values = {"enum": ["op\u202een", "zu"]}
    tool = Tool(name="find", input_schema={"type": "object", "properties": {"größe": values}})
    removed = [
        one
        for one in OPERATORS["member-removed"]("member-removed", [tool])
        if one.value == ("op\u202een",)
    ]
    text = missing_test(removed[0])
    assert "\u202e" not in text
    (asked,) = yaml.safe_load(text)
    assert asked["assertions"]["must_call"][0]["args"] == {"größe": "op\u202een"}
