"""Which faults of a server the checks of a suite would miss, by the answers of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from tests.end_to_end.harness_process import Finished, Project
from tests.often import often

SERVER = Path(__file__).with_name("policed_server.py")
RECORD = 'get_person(person_id="P-1007")'
TESTS: list[dict[str, Any]] = [
    {
        "name": "record",
        "prompt": "Show the record of person P-1007.",
        "tool": {"tool": "get_person", "args": {"person_id": "P-1007"}},
        "expect": {"admin": "allowed"},
    },
    {
        "name": "team",
        "prompt": "List all members of the team blue.",
        "tool": {"tool": "list_team", "args": {"team": "blue"}},
        "expect": {"admin": "allowed"},
    },
]
WHOLE = {"clerk": {"decision": "filtered", "without": ["salary"]}, "anonymous": "denied"}


def evals(project: Project, tests: list[dict[str, Any]], *arguments: str) -> Finished:
    server = {"command": sys.executable, "args": [str(SERVER), "none"], "protocol": "legacy"}
    identities = {"admin": {"role": "admin"}, "clerk": {"role": "clerk"}}
    project.suite(
        "people",
        tests,
        server=server,
        identities=identities,
        defaults={"as": ["admin", "clerk", "anonymous"]},
    )
    return project.run("evals", "people", *arguments)


def test_survivors_name_the_line_that_is_missing_and_with_it_the_suite_notices_them(
    project: Project,
) -> None:
    finished = evals(project, TESTS, "--mutate", "--json-output")
    loose = finished.document["result"]["mutants"]["people"]
    assert finished.code == 0
    assert loose["applicable"] == (
        loose["killed_by_suite"] + loose["killed_by_search"] + loose["survived"]
    )
    assert loose["killed_by_suite"] > 0
    assert loose["killed_by_search"] > 0
    missed = {(each["operator"], each["words"]): each["missing"] for each in loose["survivors"]}
    refused = missed["refuse", f"{RECORD} as clerk: refused, not answered"]
    assert yaml.safe_load(refused["yaml"]) == [
        {"name": "record", "expect": {"clerk": {"decision": "filtered", "without": ["salary"]}}}
    ]
    whole = [{**test, "expect": test["expect"] | WHOLE} for test in TESTS]
    strict = evals(project, whole, "--mutate", "--json-output").document["result"]["mutants"][
        "people"
    ]
    left = {each["operator"] for each in strict["survivors"]}
    assert left <= {"show_hidden"}
    assert strict["killed_by_suite"] > loose["killed_by_suite"]


@pytest.mark.slow
def test_a_score_that_is_too_low_fails_the_run_and_every_view_of_its_log(project: Project) -> None:
    finished = evals(project, TESTS, "--min-score", "99")
    assert finished.code == 1
    assert "fewer than 99 %" in finished.stdout
    assert f"survived: refuse: {RECORD} as clerk: refused, not answered" in finished.stdout
    report = build_report(project.log())
    assert exit_code(report) == 1
    (failed,) = (case for case in report.cases if case.status == "failed")
    assert "fewer than 99 %" in failed.deciding_trial.checks[0].explanation
    assert project.run("evals", "people", "--resume").code == 1, "nothing is better now"

    graded = project.run("grade", "latest", "--mutate", "--json-output")
    assert graded.code == 1, "nor is it by the same suite"
    score = graded.document["result"]["mutants"]["people"]
    assert f"{score['score']:.0%} (95 % interval" in finished.stdout
    assert project.run("grade", "latest", "--min-score", "1").code == 0, "less is asked for"


@pytest.mark.parametrize("kind", often(["tool_result_not_contains", "decision"]))
def test_checks_of_every_kind_notice_faults_and_the_models_words_stay(
    project: Project, kind: str
) -> None:
    own = {
        "tool_result_not_contains": ["64512"],
        "decision": {"is": "filtered", "tool": "get_person", "without": ["salary"]},
    }
    test = {
        "name": "mine",
        "prompt": TESTS[0]["prompt"],
        "user_context": {"role": "clerk"},
        "assertions": {kind: own[kind], "answer_not_contains": ["64512"]},
    }
    theirs = {
        "name": "full",
        "prompt": TESTS[0]["prompt"],
        "user_context": {"role": "admin"},
        "assertions": {"must_succeed": ["get_person"]},
    }
    server = {"command": sys.executable, "args": [str(SERVER), "none"], "protocol": "legacy"}
    project.suite("people", [test, theirs], server=server)
    document = project.run("evals", "people", "--mutate", "--json-output").document
    score = document["result"]["mutants"]["people"]
    assert score["operators"]["widen"] == {"killed": 1, "applicable": 1}
    assert not any("widen" in each["operator"] for each in score["survivors"])
