"""``harness plan``: what a suite can show before money is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness.base.stats.power import detectable_difference
from harness.cli.commands.plan import command
from harness.types import ToolList
from tests.descriptions.workbench.benches import tool
from tests.reports.run_logs import write_log

SUITE = """
mxcp: 1
suite: shop
server: {command: no-such-server}
tests:
"""
CASE = "  - {name: case_NUMBER, prompt: How many?, assertions: {answer_contains: [xNUMBER]}}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "evals").mkdir()
    cases = "".join(CASE.replace("NUMBER", str(number)) for number in range(12))
    (tmp_path / "evals" / "shop.yml").write_text(SUITE + cases, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def plan(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def document(*arguments: str) -> dict[str, Any]:
    (found,) = json.loads(plan("--json-output", *arguments))["result"]["suites"]
    assert isinstance(found, dict)
    return found


def test_it_says_what_the_cases_can_show_and_starts_nothing() -> None:
    lines = plan("shop").splitlines()
    assert lines[0] == "shop: 12 cases"
    assert "discordance 20 % (assumed: no two earlier runs" in lines[2]
    row = next(line for line in lines if line.split()[:2] == ["12", "1"])
    assert row.split()[2:] == ["24", "trials", "$0.00", "58", "points"]
    assert any("156 more cases (168 in all) with one trial each" in line for line in lines)
    assert any("More trials of these 12 cases alone would never show it." in line for line in lines)
    assert not Path(".harness").exists()


def test_the_identities_of_a_test_are_one_case_that_costs_several_trials(project: Path) -> None:
    path = project / "evals" / "shop.yml"
    plain = document("shop")
    text = path.read_text("utf-8").replace(
        "{command: no-such-server}", "{command: no-such-server, identity: meta}"
    )
    many = text.replace("assertions:", "as: [admin, clerk], assertions:")
    path.write_text(many + "identities: {admin: {role: admin}, clerk: {role: clerk}}\n", "utf-8")
    found = document("shop")
    assert found["cases"] == plain["cases"] == 12
    for one, other in zip(found["designs"], plain["designs"], strict=True):
        assert one["smallest_difference"] == other["smallest_difference"]
        assert one["trials_of_both_sides"] == 2 * other["trials_of_both_sides"]
    assert found["wanted"] == plain["wanted"]


ROWS = {
    "matrix": "matrix: {file: [a, b]}",
    "parameters": "parameters: [{file: a}, {file: b}]",
    "wordings": "matrix: {file: [How many?, How many are there?]}",
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
def test_the_rows_of_a_test_are_one_case_that_costs_several_trials(
    project: Path, rows: str
) -> None:
    path = project / "evals" / "shop.yml"
    plain = document("shop")
    text = path.read_text("utf-8").replace("How many?", "'${{ file }}'")
    path.write_text(text.replace("assertions:", f"{rows}, assertions:"), "utf-8")
    found = document("shop")
    assert found["cases"] == plain["cases"] == 12
    for one, other in zip(found["designs"], plain["designs"], strict=True):
        assert one["smallest_difference"] == other["smallest_difference"]
        assert one["trials_of_both_sides"] == 2 * other["trials_of_both_sides"]
    first = plan("shop").splitlines()[0]
    assert first == "shop: 12 cases (24, of which those of one test count as one)"


def test_it_says_which_gate_no_loss_could_fire(project: Path) -> None:
    def gates(*arguments: str) -> str:
        return next(line for line in plan("shop", *arguments).splitlines() if "--gate" in line)

    for arguments, tests in (((), 1), (("-m", "gpt-4o"), 6)):
        loss = f"fires at the earliest at a loss of {tests} of 12 passing cases"
        assert gates(*arguments) == f"  --gate {loss}; --gate 5% {loss} (if all cases pass before)."
    folder = project / ".harness" / "runs" / "20260101T000000Z-shop-aaaaaa"
    folder.mkdir(parents=True)
    ends = {f"case_{number}": "p" if number < 5 else "f" for number in range(12)}
    write_log(folder / "log.jsonl", ends, suite="shop")
    found = plan("shop", "-m", "gpt-4o")
    assert "No loss can fire --gate; no loss can fire --gate 5% (after 20260101T" in found
    assert document("shop", "-m", "gpt-4o")["gates"] == [
        {"margin": 0.0, "smallest_loss": None},
        {"margin": 0.05, "smallest_loss": None},
    ]


def test_what_is_known_from_earlier_runs_takes_the_place_of_assumptions(project: Path) -> None:
    runs = project / ".harness" / "runs"
    for number, letters in enumerate(("ppf", "pff")):
        folder = runs / f"2026010{number + 1}T000000Z-shop-aaaaaa"
        folder.mkdir(parents=True)
        results = {f"case_{case}": "ppp" if case % 2 else letters for case in range(12)}
        write_log(folder / "log.jsonl", results, suite="shop")
    found = document("shop")
    assert found["discordance_source"] == "measured: 1 pair of earlier runs"
    assert found["icc_source"] == "measured: 2 runs with repeats"
    assert found["discordance"] == pytest.approx((2 / 3 * 2 / 3 + 1 / 3 * 1 / 3) / 2)
    named = document("shop", "--log", "20260101")
    assert named["discordance_source"] == "measured: 1 run with repeats"


def test_an_ablation_is_priced_once_a_run_has_shown_the_tool_list(project: Path) -> None:
    assert document("shop")["ablation"] is None
    folder = project / ".harness" / "runs" / "20260101T000000Z-shop-aaaaaa"
    folder.mkdir(parents=True)
    listed = ToolList(tools=(tool("find", "Finds orders. Use it first.", id={"type": "string"}),))
    results = {f"case_{case}": "p" for case in range(12)}
    write_log(folder / "log.jsonl", results, suite="shop", tools=[listed])
    found = document("shop", "--model", "claude-4-sonnet")["ablation"]
    # Its name, two sentences and the name of a parameter.
    assert (found["parts"], found["trials"]) == (4, 12 * 5)
    assert found["cost_usd"] == pytest.approx(60 * 0.024)
    assert found["smallest_effect"] == pytest.approx(detectable_difference(12, 0.2, alpha=0.05 / 4))
    assert "An ablation of the 4 parts of the tool list" in plan("shop")


def test_what_another_server_was_asked_tells_nothing_of_how_much_the_suite_varies(
    project: Path,
) -> None:
    other = {"workbench": {"other": {"server": "b", "not_asked": {}}}}
    for name, letter, settings in (("a", "p", {}), ("a-b", "f", other)):
        folder = project / ".harness" / "runs" / f"20260101T000000Z-shop-{name}"
        folder.mkdir(parents=True)
        results = {f"case_{case}": letter for case in range(12)}
        write_log(folder / "log.jsonl", results, suite="shop", settings=settings)
    assert document("shop")["discordance_source"].startswith("assumed")


def test_the_cost_is_that_of_both_sides_with_the_named_model() -> None:
    (first, *_) = document("shop", "--model", "claude-4-sonnet")["designs"]
    assert first["trials_of_both_sides"] == 24
    assert first["cost_usd"] == pytest.approx(24 * 0.024)


def test_a_wished_difference_and_a_margin_say_how_many_cases_they_take() -> None:
    found = document("shop", "--difference", "5", "--margin", "10")
    assert found["wanted"]["cases"] > 600
    assert found["wanted"]["trials_of_these_cases"] is None
    assert found["not_worse"] == {"margin": 0.1, "cases": 124}


def test_more_cases_than_needed_are_said_to_be_enough() -> None:
    assert "is found with one trial of each case" in plan("shop", "--difference", "70")


@pytest.mark.parametrize("points", ["0", "101", "nan", "ten"])
def test_a_difference_that_is_none_is_refused(points: str) -> None:
    result = CliRunner().invoke(command, ["shop", "--difference", points])
    assert result.exit_code == 2
    assert "--difference" in result.output
