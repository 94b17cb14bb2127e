"""A probe leaves a run like any other: no view of its log looks better than its exit code."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from tests.end_to_end.harness_process import Project
from tests.end_to_end.policies.test_probe import probe
from tests.often import often
from tests.reports.packs import all_of

NAMED = ("--named-only", "--json-output")
"""Where nothing but the suite's own identities matters: a third of the work."""


@pytest.mark.parametrize(
    ("fault", "code", "options"),
    often(
        [
            ("forgetful", 1, NAMED),  # a leak
            ("none", 0, NAMED[1:]),
            ("blind", 1, NAMED),  # identity counts for nothing
            ("brittle", 4, NAMED[1:]),  # a damaged identity ends the server
            ("public", 1, NAMED[1:]),
        ]
    ),
)
def test_the_log_of_a_probe_says_what_its_exit_code_says(
    project: Project, fault: str, code: int, options: tuple[str, ...]
) -> None:
    finished = probe(project, fault, "--report", "junit:out.xml", *options)
    assert finished.code == code, finished.stdout
    report = build_report(project.log())
    assert exit_code(report) == code
    suite = ET.parse(project.folder / "out.xml").getroot()
    bad = sum(int(suite.get(name, 0)) for name in ("failures", "errors"))
    assert (bad > 0) == (code != 0)
    for finding in finished.document["findings"]:
        if (request := finding["request"]) is not None:
            sent = json.loads(request["jsonrpc"])["params"]
            assert (sent["name"], sent["arguments"]) == (request["tool"], request["arguments"])
            assert request["identity"] in finding["callers"]
    if fault == "forgetful":
        assert any(finding["request"] for finding in finished.document["findings"])
    found = {finding["problem"] for finding in finished.document["findings"]}
    told = {
        check.code or check.kind
        for result in report.results
        for check in result.checks
        if check.verdict == "failed"
    }
    assert found - {"leak", "unexpected"} <= told


@pytest.mark.slow
def test_a_changed_decision_fails_the_log_too(project: Project, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.json")
    assert probe(project, "none", "--named-only", "--update", kept).code == 0
    finished = probe(project, "forgetful", "--expect", kept, *NAMED)
    assert finished.document["changed"]
    report = build_report(project.log())
    assert exit_code(report) == finished.code == 1
    said = [check.explanation for result in report.results for check in result.checks]
    for words in finished.document["changed"]:
        assert any(words in explanation for explanation in said)


@pytest.mark.slow
def test_less_access_fails_only_where_any_change_is_to_fail(
    project: Project, tmp_path: Path
) -> None:
    kept = str(tmp_path / "kept.json")
    assert probe(project, "forgetful", "--named-only", "--update", kept).code == 1
    less = ("--expect", kept, *NAMED)
    any_change = probe(project, "none", *less)
    assert any_change.code == 1
    assert {change["direction"] for change in any_change.document["changes"]} == {"less"}
    assert exit_code(build_report(project.log())) == 1
    assert probe(project, "none", *less, "--fail-on", "more").code == 0
    assert exit_code(build_report(project.log())) == 0


@pytest.mark.slow
def test_the_page_of_a_probe_shows_its_findings(project: Project) -> None:
    finished = probe(project, "blind", "--report", "html:page.html", *NAMED)
    page = all_of((project.folder / "page.html").read_text())
    assert finished.document["findings"]
    assert "identity not observed" in page


@pytest.mark.slow
def test_what_a_probe_never_asked_is_named_and_can_fail_it(project: Project) -> None:
    finished = probe(project, "none", *NAMED)
    coverage = finished.document["coverage"]
    assert finished.code == 0
    assert coverage["asked"] + len(coverage["never_asked"]) == coverage["cells"] > 0
    plain = probe(project, "none", "--named-only").stdout
    assert f"Coverage: {coverage['asked']} of {coverage['cells']} asked" in plain


@pytest.mark.slow
def test_too_little_coverage_fails_the_probe_and_its_log(project: Project) -> None:
    enough = probe(project, "none", "--min-coverage", "80", *NAMED)
    assert (enough.code, enough.document["coverage"]["percent"]) == (0, 80)
    assert exit_code(build_report(project.log())) == 0
    finished = probe(project, "none", "--min-coverage", "80.5", *NAMED)
    assert finished.code == exit_code(build_report(project.log())) == 1
