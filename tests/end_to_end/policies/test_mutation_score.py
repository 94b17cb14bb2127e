"""Which faults a policy suite would miss, and the lines that it lacks, on a server of our own."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from tests.end_to_end.harness_process import Project
from tests.end_to_end.policies.test_probe import RECORD, TESTS, probe, without_progress


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the score of a suite that states one decision of six."""
    project = Project(tmp_path_factory.mktemp("loose"))
    finished = probe(project, "none", "--named-only", "--mutate", "--json-output")
    assert (finished.code, without_progress(finished.stderr)) == (0, [])
    score: dict[str, Any] = finished.document["mutants"]
    return score


def test_faults_that_nothing_contradicts_survive_and_each_names_the_line_that_is_missing(
    loose: dict[str, Any],
) -> None:
    assert loose["applicable"] == (
        loose["killed_by_suite"] + loose["killed_by_search"] + loose["survived"]
    )
    low, high = loose["interval"]
    assert low < loose["score"] < high
    missed = {(each["operator"], each["words"]): each["missing"] for each in loose["survivors"]}
    refused = missed["refuse", f"{RECORD} as clerk: refused, not answered"]
    assert (refused["identity"], refused["decision"]) == ("clerk", "filtered")
    assert refused["without"] == ["salary"]
    assert yaml.safe_load(refused["yaml"]) == [
        {"name": "record", "expect": {"clerk": {"decision": "filtered", "without": ["salary"]}}}
    ]


def test_what_the_suite_states_kills_and_what_leaks_is_found_without_it(
    loose: dict[str, Any],
) -> None:
    missed = {each["words"] for each in loose["survivors"]}
    assert f"{RECORD} as admin: refused, not answered" not in missed, "the suite expects: allowed"
    assert f"{RECORD} as clerk: salary is there, not left out" not in missed, "withheld in the list"
    assert loose["killed_by_suite"] > 0
    assert loose["killed_by_search"] > 0


@pytest.mark.slow
def test_with_the_missing_lines_the_suite_notices_what_they_are_for(
    project: Project, loose: dict[str, Any]
) -> None:
    tests = [
        TESTS[0],
        {"name": "team", "prompt": "-", "tool": {"tool": "list_team", "args": {"team": "blue"}}},
        {"name": "set_salary", "prompt": "-", "tool": "set_salary", "as": ["clerk", "anonymous"]},
    ]
    told = {test["name"]: dict(test.get("expect", {})) for test in tests}
    for survivor in loose["survivors"]:
        for test in yaml.safe_load((survivor["missing"] or {}).get("yaml", "[]")):
            name = "team" if test.get("tool", {}).get("tool") == "list_team" else test["name"]
            told[name] |= test["expect"]
    pasted = [{**test, "expect": told[test["name"]]} for test in tests]
    finished = probe(project, "none", "--named-only", "--mutate", "--json-output", tests=pasted)
    score = finished.document["mutants"]
    assert (score["survived"] - score["beyond_expectations"], finished.code) == (0, 0)
    assert score["killed_by_suite"] > loose["killed_by_suite"]


@pytest.mark.slow
def test_kept_decisions_notice_faults_that_the_suite_does_not(
    project: Project, loose: dict[str, Any]
) -> None:
    kept = str(project.folder / "decisions.json")
    assert probe(project, "none", "--named-only", "--update", kept).code == 0
    asked = ("--named-only", "--mutate", "--expect", kept, "--json-output")
    held = probe(project, "none", *asked).document["mutants"]
    assert (held["applicable"], held["killed_by_suite"], held["killed_by_search"]) == (
        loose["applicable"],
        loose["killed_by_suite"],
        loose["killed_by_search"],
    )
    assert held["killed_by_kept"] > 0
    assert held["survived"] == loose["survived"] - held["killed_by_kept"]
    missed = {each["operator"] for each in held["survivors"]}
    assert not missed & {"grant", "refuse", "widen", "unmask", "show_hidden"}
    more = probe(project, "none", *asked, "--fail-on", "more").document["mutants"]
    assert "refuse" in {each["operator"] for each in more["survivors"]}, "it gives less access"


def test_a_score_below_the_threshold_fails_the_probe_and_its_log(project: Project) -> None:
    finished = probe(project, "none", "--named-only", "--min-score", "99")
    assert finished.code == 1
    assert "fewer than 99 %" in finished.stdout
    assert f"survived: refuse: {RECORD} as clerk: refused, not answered" in finished.stdout
    assert finished.stdout.index("survived: ") < finished.stdout.index("Mutation score: ")
    report = build_report(project.log())
    assert exit_code(report) == 1
    said = [check.explanation for result in report.results for check in result.checks]
    assert any("fewer than 99 %" in explanation for explanation in said)


@pytest.mark.slow
def test_a_score_above_the_threshold_passes(project: Project) -> None:
    finished = probe(project, "none", "--named-only", "--min-score", "5")
    assert (finished.code, "fewer than" in finished.stdout) == (0, False)
