"""What every head of a report says of a run: one rate a subject, all warnings, names in full."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import harness
from harness.base import shorten_middle
from harness.reports.build import build_report
from harness.reports.formats.github_report import workflow_commands
from harness.reports.formats.html_report.detail import trial_detail
from harness.reports.formats.html_report.overview import build_overview
from harness.reports.sections.sentences import pass_rate_lines
from harness.reports.viewer.run_summary import build_summary
from harness.types import CheckResult
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call, written

TALKY = CheckResult(
    kind="max_replies",
    label="max_replies 5",
    verdict="failed",
    severity="warn",
    explanation="7 replies\nof which 2 were needed",
)
REFUSED = CheckResult(
    kind="must_be_denied", label="must_be_denied", verdict="passed", traits=("no_success",)
)


def quarter_and_nearly_all() -> dict[str, dict[str, str]]:
    return {
        "shop": {f"a{number}": "p" if number < 10 else "f" for number in range(40)},
        "mail": {f"b{number}": "f" if number == 0 else "p" for number in range(40)},
    }


def test_two_suites_have_a_rate_each_and_none_together(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", quarter_and_nearly_all())
    report = build_report(log)
    assert [(line[:14], line[-6:]) for line in pass_rate_lines(report)] == [
        ("pass rate 25 %", "[shop]"),
        ("pass rate 98 %", "[mail]"),
    ]
    summary = build_summary(log, report)
    assert summary["pass_rate"] is None
    assert [round(100 * one["pass_rate"]) for one in summary["groups"]] == [25, 98]
    page = build_overview(report, log)
    assert [(one["name"], round(100 * one["rate"])) for one in page["rates"]] == [
        ("shop", 25),
        ("mail", 98),
    ]
    for name in ("json", "markdown"):
        assert "62 %" not in written(log, name)
    assert json.loads(written(log, "json"))["result"]["pass_rate"] is None


def test_two_models_on_two_suites_are_four_subjects(tmp_path: Path) -> None:
    runs = [
        (a_run("c", "passed", suite=suite, model=model), a_conversation())
        for suite in ("shop", "mail")
        for model in ("A", "B")
    ]
    log = a_log(tmp_path, runs, suites=("shop", "mail"), models=("A", "B"))
    lines = pass_rate_lines(build_report(log))
    assert [line.partition("[")[2] for line in lines] == [
        "A on shop]",
        "B on shop]",
        "A on mail]",
        "B on mail]",
    ]


def test_of_very_many_subjects_the_lowest_are_named(tmp_path: Path) -> None:
    suites = {f"s{number}": {"c": "f" if number == 28 else "p"} for number in range(30)}
    lines = pass_rate_lines(build_report(write_log(tmp_path / "log.jsonl", suites)))
    assert len(lines) == 21
    assert any("pass rate 0 %" in line and "[s28]" in line for line in lines)
    assert lines[-1] == "… and 10 more pass rates, none of them lower"


def test_warnings_are_counted_and_shown_in_every_output(tmp_path: Path) -> None:
    runs = [
        (a_run("quiet", "passed"), a_conversation()),
        (a_run("talky", "passed", checks=(TALKY,)), a_conversation()),
        (a_run("wrong", "failed", checks=(must_call("t"), TALKY)), a_conversation()),
    ]
    log = a_log(tmp_path, runs)
    report = build_report(log)
    line = "2 warnings in 2 trials: max_replies 2"
    assert line in written(log, "markdown")
    assert line in build_summary(log, report)["call_lines"]
    assert line in build_overview(report, log)["repeats"]
    junit = written(log, "junit")
    assert f'<property name="warnings" value="{line}"' in junit
    assert "[[PROPERTY|warnings=warning: max_replies 5: 7 replies]]" in junit
    assert "| ⚠️ | `talky` | `warning: max_replies 5: 7 replies` |" in written(log, "markdown")
    result = json.loads(written(log, "json"))["result"]
    assert result["summary"]["warnings"] == {"total": 2, "trials": 2, "kinds": {"max_replies": 2}}
    assert [len(test["warnings"]) for test in result["tests"]] == [0, 1, 1]
    cells = build_overview(report, log)["grid"]["cells"]
    assert [cell.get("warnings", 0) for cell in cells] == [0, 1, 1]
    levels = [command.partition(" ")[0] for command in workflow_commands(report)]
    assert levels == ["::error", "::warning"]


def test_ten_annotations_at_most_name_every_kind_of_problem(tmp_path: Path) -> None:
    runs = [
        *(a_run(f"same{n}", "failed", checks=(must_call("t"),)) for n in range(30)),
        *(a_run(f"own{n}", "failed", checks=(must_call(f"t{n}", explanation=f"no {n}"),))
          for n in range(3)),
    ]  # fmt: skip
    log = a_log(tmp_path, [(run, a_conversation()) for run in runs])
    commands = list(workflow_commands(build_report(log)))
    assert len(commands) == 4
    assert "title=30 cases failed::" in commands[0]
    assert "same0%0Asame1%0A" in commands[0]
    assert "… and 10 more" in commands[0]


def test_problems_of_many_kinds_are_ten_annotations_of_which_the_last_has_the_rest(
    tmp_path: Path,
) -> None:
    runs = [
        a_run(f"c{n}", "failed", suite=f"s{n}", checks=(must_call(f"t{n}", explanation=f"no {n}"),))
        for n in range(25)
    ]
    log = a_log(
        tmp_path, [(run, a_conversation()) for run in runs], suites=[f"s{n}" for n in range(25)]
    )
    commands = list(workflow_commands(build_report(log)))
    assert len(commands) == 10
    assert "title=16 cases failed::" in commands[-1]


def test_a_refusal_that_the_suite_asks_for_is_marked_as_wanted() -> None:
    said = a_conversation()
    said = replace(
        said, tool_calls=tuple(replace(call, outcome="denied") for call in said.tool_calls)
    )
    for checks, wanted in (((REFUSED,), True), ((), False)):
        run = a_run("c", "passed", checks=checks)
        steps = trial_detail(run, said)["steps"]
        calls = [step for step in steps if step["who"] == "call"]
        assert [step.get("wanted", False) for step in calls] == [wanted] * len(calls)


def test_names_are_cut_where_they_are_alike() -> None:
    names = [f"customer_analysis::a_very_long_name_of_a_case_{end}" for end in ("one", "two")]
    cut = [shorten_middle(name, 30) for name in names]
    assert len(set(cut)) == 2
    assert all(len(name) <= 30 and name.startswith("customer") for name in cut)


def hue_of(colour: str) -> float:
    """Return the hue of ``#rrggbb`` in OKLCH, in degrees."""
    r, g, b = (
        (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4)
        for v in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    )
    ell = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    a = 1.9779984951 * ell - 2.4285922050 * m + 0.4505937099 * s
    along = 0.0259040371 * ell + 0.7827717662 * m - 0.8086757660 * s
    return math.degrees(math.atan2(along, a)) % 360


def test_no_subject_has_the_colour_of_a_verdict() -> None:
    assets = Path(harness.__file__).parent / "reports/viewer/assets"
    style = (assets / "viewer.css").read_text("utf-8")
    told = re.findall(r"--(?:passed|failed|error|skipped|cancelled): (#\w{6})", style)
    assert len(told) >= 10
    ranges = re.search(r"HUES = .*\(\[(\[.*\])\]\);", (assets / "colour.js").read_text("utf-8"))
    assert ranges
    for low, high in json.loads(f"[{ranges[1]}]"):
        for verdict in map(hue_of, told):
            for hue in range(low, high + 1):
                distance = abs((hue - verdict + 180) % 360 - 180)
                assert distance >= 20, (hue, verdict)
