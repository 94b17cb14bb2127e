"""One test asked as several identities, against a real server.

Sound, and with one fault at a time.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import harness
from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from harness.runlog import read_log
from harness.types import CheckResult, Report
from tests.end_to_end.harness_process import Project
from tests.often import often
from tests.reports.packs import all_of

SERVER = Path(__file__).with_name("policed_server.py")
TESTS: list[dict[str, Any]] = [
    {"name": "record", "prompt": "Show the record of person P-1007."},
    {"name": "team", "prompt": "List all members of the team blue."},
]
EXPECT = {"admin": "allowed", "clerk": "filtered", "anonymous": "denied"}


def settings(fault: str, *more: str) -> dict[str, Any]:
    return {
        "server": {
            "command": sys.executable,
            "args": ["-I", "-S", str(SERVER), fault, *more],
            "protocol": "legacy",
        },
        "identities": {"admin": {"role": "admin"}, "clerk": {"role": "clerk"}},
        "defaults": {"as": ["admin", "clerk", "anonymous"]},
    }


def run(
    folder: Path, fault: str, tests: list[dict[str, Any]] | None = None, *more: str, **extra: Any
) -> Report:
    path = Project(folder).suite("people", tests or TESTS, **settings(fault, *more), **extra)
    return harness.run(str(path), model="lexical", concurrency=3)


ACCESS_MATRIX = Path(__file__).parents[3] / "evals" / "access_matrix.yml"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def leaking(report: Report) -> dict[str, str]:
    """Return the failed cases, each with the line that says where the leak stood."""
    found = {}
    for case in report.cases:
        failed = [check for check in case.deciding_trial.checks if check.verdict == "failed"]
        if case.status != "passed":
            assert [check.kind for check in failed] == ["no_leak"], failed
            found[case.case] = failed[0].explanation.splitlines()[1]
    return found


def accesses(report: Report) -> dict[str, list[str]]:
    return {row.group: [cell.access for cell in row.cells] for row in report.access.rows}


def failure(report: Report, case: str) -> CheckResult:
    run = next(run for run in report.results if run.case.name == case)
    return next(check for check in run.checks if check.verdict == "failed")


def test_a_sound_server_leaks_nothing_and_its_decisions_are_read_off_the_wire(
    tmp_path: Path,
) -> None:
    report = run(tmp_path, "none", [{**test, "expect": EXPECT} for test in TESTS])
    assert {case.status for case in report.cases} == {"passed"}
    assert accesses(report) == {
        name: ["allowed", "filtered", "denied"] for name in ("record", "team")
    }
    clerk = report.access.rows[0].cells[1]
    assert [(one.tool, one.access, one.missing) for one in clerk.decisions] == [
        ("get_person", "filtered", ("salary",)),
        ("set_salary", "hidden", ()),
    ]
    assert report.access.unobserved == {}
    assert all(
        run.checks[-1].kind == "no_leak" and run.checks[-1].verdict == "passed"
        for run in report.results
    )


@pytest.mark.slow
def test_our_own_suite_finds_nothing_in_our_own_server(project: Project) -> None:
    project.run("evals", str(ACCESS_MATRIX), "--model", "lexical", "--concurrency", "2")
    report = build_report(project.log())
    assert {case.status for case in report.cases} == {"passed"}
    assert [[cell.access for cell in row.cells] for row in report.access.rows][2] == [
        "allowed",
        "filtered",
        "filtered",
        "denied",
        "denied",
    ]


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (
            "structured",
            {
                "record [clerk]": ("It is in the structured result of call 1, get_person: salary"),
                "team [clerk]": (
                    "It is in the structured result of call 1, list_team: members[].salary"
                ),
            },
        ),
        (
            "forgetful",
            {
                "team [clerk]": (
                    "It is in the structured result of call 1, list_team: members[].salary"
                )
            },
        ),
        ("quoting", {"record [anonymous]": "It is in the error text of call 1, get_person"}),
        (
            "denied_with_data",
            {
                "record [anonymous]": (
                    "It is in the structured result of call 1, get_person: person_id"
                ),
                "team [anonymous]": (
                    "It is in the structured result of call 1, list_team: members[].person_id"
                ),
            },
        ),
    ],
)
def test_each_fault_is_found_and_named_without_a_word_about_what_is_secret(
    fault: str, found: dict[str, str], tmp_path: Path
) -> None:
    report = run(tmp_path, fault)
    assert leaking(report).keys() == found.keys()
    if (
        fault != "denied_with_data"
    ):  # there it is everything, and which field comes first says nothing
        assert leaking(report) == found
    assert exit_code(report) == 1
    # It is no fact of the moment: the log alone says the same.
    assert build_report(read_log(Path(report.log))).cases == report.cases


def test_a_cache_that_forgets_who_asked_is_caught_by_what_is_expected(tmp_path: Path) -> None:
    test = {**TESTS[0], "as": ["admin", "clerk"], "expect": EXPECT | {"clerk": "filtered"}}
    del test["expect"]["anonymous"]
    path = Project(tmp_path).suite(
        "people", [test], **settings("cached", str(tmp_path / "cache.json"))
    )
    report = harness.run(str(path), model="lexical", concurrency=1)
    check = failure(report, "record [clerk]")
    assert check.explanation.splitlines() == [
        ("Decision is allowed, expected filtered: others get the same result from the same call"),
        "Line crossed: what the server allowed.",
    ]


@pytest.mark.parametrize("fault", often(["remembers", "first_kept", "cached"]))
def test_an_identity_that_a_process_keeps_is_found_where_all_identities_share_one(
    tmp_path: Path, fault: str
) -> None:
    tests = [{**test, "expect": EXPECT} for test in TESTS]
    apart = run(tmp_path, fault, tests)
    assert {case.status for case in apart.cases} == {"passed"}
    together = Project(tmp_path).suite("people", tests, **settings(fault), isolation="none")
    report = harness.run(str(together), model="lexical", concurrency=1)
    assert failure(report, "record [anonymous]").verdict == "failed"
    assert exit_code(report) == 1


@pytest.mark.slow
def test_a_sound_server_passes_where_all_identities_share_a_process_also_if_only_one_can_run(
    tmp_path: Path,
) -> None:
    tests = [{**test, "expect": EXPECT} for test in TESTS]
    database = str(tmp_path / "database")
    apart = run(tmp_path, "exclusive", tests, database)
    assert "error" in {case.status for case in apart.cases}
    report = run(tmp_path, "exclusive", tests, database, isolation="none")
    assert {case.status for case in report.cases} == {"passed"}


@pytest.mark.parametrize("isolation", often(["identity", "none"]))
def test_a_caller_who_is_refused_a_session_is_denied_where_the_case_says_so(
    tmp_path: Path, isolation: str
) -> None:
    said = [{**TESTS[0], "expect": EXPECT}, TESTS[1]]
    report = run(tmp_path, "gated", said, isolation=isolation)
    assert accesses(report)["record"] == ["allowed", "filtered", "denied"]
    denied = report.access.rows[0].cells[2].decisions[0]
    assert denied.shape == "protocol_error"
    told = {case.case: case.status for case in report.cases if "anonymous" in case.case}
    assert told == {"record [anonymous]": "passed", "team [anonymous]": "error"}
    (unsaid,) = (result for result in report.results if result.case.name == "team [anonymous]")
    assert unsaid.error is not None
    assert "Unauthorized: please sign in (code -32001)" in unsaid.error.message


def test_a_server_that_cannot_serve_a_caller_has_not_denied_them(tmp_path: Path) -> None:
    report = run(tmp_path, "broken_for_nobody", [{**TESTS[0], "expect": EXPECT}])
    told = {case.case: case.status for case in report.cases}
    assert told["record [anonymous]"] == "error"
    assert told["record [admin]"] == "passed"


def test_a_server_that_ignores_identity_does_not_look_safe(tmp_path: Path) -> None:
    report = run(tmp_path, "blind")
    assert {case.status for case in report.cases} == {"passed"}
    assert "nothing shows that the server knows who asks" in report.access.unobserved["people"]
    report = run(tmp_path, "blind", require_identity=True)
    assert {case.status for case in report.cases} == {"failed"}
    assert failure(report, "team [clerk]").explanation.startswith(
        "Identity was not observed: 3 identities (admin"
    )


def test_a_tool_that_is_hidden_from_an_identity_is_no_mistake_of_the_suite(tmp_path: Path) -> None:
    expect = {"clerk": "hidden", "anonymous": "hidden"}
    test = {
        "name": "raise",
        "prompt": "Change the salary of person P-1007 to 70000.",
        "as": ["clerk", "anonymous"],
        "tool": {"tool": "set_salary", "args": {"person_id": "P-1007"}},
    }
    report = run(tmp_path, "none", [{**test, "expect": expect}, TESTS[0]])
    assert {case.status for case in report.cases} == {"passed"}
    assert accesses(report)["raise"] == ["hidden", "hidden"]
    misspelt = {**test, "as": ["admin"], "tool": {"tool": "set_salary", "args": {"person": "P"}}}
    with pytest.raises(
        harness.HarnessError, match="the tool 'set_salary' has no argument 'person'"
    ):
        run(tmp_path, "none", [{**misspelt, "expect": {"admin": "allowed"}}])


def test_leaks_can_be_left_to_others(tmp_path: Path) -> None:
    report = run(
        tmp_path,
        "structured",
        [{**TESTS[0], "leaks": "ignore", "assertions": {"must_call": ["get_person"]}}],
    )
    assert {case.status for case in report.cases} == {"passed"}
    assert report.access.leaks == ()


def test_one_leaking_trial_fails_its_case_however_many_may_fail(tmp_path: Path) -> None:
    test = {
        **TESTS[0],
        "trials": 2,
        "pass_threshold": 0.1,
        "assertions": {"must_call": ["get_person"]},
    }
    report = run(tmp_path, "structured", [test])
    assert {case.case: case.status for case in report.cases} == {
        "record [admin]": "passed",
        "record [clerk]": "failed",
        "record [anonymous]": "passed",
    }


def test_all_reports_and_the_exit_code_tell_the_same(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.suite("people", [{**test, "expect": EXPECT} for test in TESTS], **settings("forgetful"))
    reports = [
        f"--report={name}:{tmp_path / name}" for name in ("json", "junit", "markdown", "html")
    ]
    finished = project.run("evals", "people", *reports)
    assert finished.code == 1
    lines = finished.stdout.splitlines()
    said = " ".join(finished.stdout.split())
    leaked = (
        "in the structured result of call 1, list_team: members[].salary test admin clerk anonymous"
    )
    assert leaked in said
    matrix = [line.split() for line in lines if line.startswith(("test ", "team ", "record "))]
    assert matrix == [
        ["test", "admin", "clerk", "anonymous"],
        ["team", "allowed", "LEAKED", "✗", "denied"],
        ["record", "allowed", "filtered", "denied"],
    ]
    document = json.loads((tmp_path / "json").read_text())["result"]
    assert document["exit_code"] == 1
    assert [leak["case"] for leak in document["matrix"]["leaks"]] == ["team [clerk]"]
    assert document["matrix"]["rows"][1]["cells"]["clerk"]["leaked"] is True
    failures = [
        case.get("name")
        for case in ET.parse(tmp_path / "junit").iter("testcase")
        if case.find("failure") is not None
    ]
    assert failures == ["team [clerk]"]
    markdown = (tmp_path / "markdown").read_text()
    assert "| `team` | allowed | LEAKED ✗ | denied |" in markdown
    assert markdown.index("🚨") < markdown.index("| `team` |")
    page = all_of((tmp_path / "html").read_text())
    assert '"words": "LEAKED ✗", "leaked": true' in page
    assert "64512" not in finished.stdout + markdown
    regraded = project.run("grade", "latest")
    assert regraded.code == 1
    assert leaked in " ".join(regraded.stdout.split())
