"""Every reader of every format can tell all cases apart, and names do not change needlessly."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.json_text import digest_json
from harness.reports.build import build_report
from harness.reports.formats.github_report import workflow_commands
from harness.runlog import RunLog
from tests.reports.packs import blocks_of
from tests.reports.sample_logs import a_log, a_run, must_call, written

Keys = list[Any]


def of_junit(text: str) -> Keys:
    cases = list(ET.fromstring(text).iter("testcase"))
    return [(case.get("classname"), case.get("name")) for case in cases]


def of_junit_within_a_suite(text: str) -> Keys:
    suites = ET.fromstring(text).iter("testsuite")
    # As GitLab does: a digest of the three in one text.
    return [
        f"{suite.get('name')}_{case.get('classname')}_{case.get('name')}"
        for suite in suites
        for case in suite
        if case.tag == "testcase"
    ]


def of_json(text: str) -> Keys:
    found = json.loads(text)["result"]
    suites = found.get("suites", [found])
    return [
        (suite["suite"], suite["model"], test["name"])
        for suite in suites
        for test in suite["tests"]
    ]


def of_jsonl(text: str) -> Keys:
    found = map(json.loads, text.splitlines())
    return [(one["suite"], one["case_id"], one["model"]) for one in found]


def of_csv(text: str) -> Keys:
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    return [row["key"] for row in rows]


def of_sarif(text: str) -> Keys:
    (run,) = json.loads(text)["runs"]
    return [
        (one["ruleId"], print_)
        for one in run["results"]
        for print_ in one["partialFingerprints"].values()
    ]


def of_markdown(text: str) -> Keys:
    return re.findall(r"<summary>(.*)</summary>", text)


def of_html(text: str) -> Keys:
    cells = blocks_of(text)["overview"]["grid"]["cells"]
    return [(cell["suite"], cell["case"], cell["entrant"]) for cell in cells]


FORMATS: Mapping[str, tuple[tuple[str, Callable[[str], Keys], int], ...]] = {
    "junit": (("classname and name", of_junit, 1), ("GitLab's", of_junit_within_a_suite, 1)),
    "junit10": (("classname and name", of_junit, 1),),
    "json": (("suite, model, name", of_json, 1),),
    "jsonl": (("suite, case, model", of_jsonl, 1),),
    "csv": (("key", of_csv, 1),),
    # Two equal checks failed in each case, and each result has two fingerprints.
    "sarif": (("rule and fingerprint", of_sarif, 4),),
    "markdown": (("the title of each failure", of_markdown, 1),),
    "html": (("row and column", of_html, 1),),
}
"""Format → what its readers know a case by, how it is read, and how often each case has it."""


def crossing(
    folder: Path, suites: Sequence[str], cases: Sequence[str], models: Sequence[str]
) -> RunLog:
    (folder / "log.jsonl").unlink(missing_ok=True)
    checks = (must_call("t"), must_call("t"))
    runs = [
        replace(
            a_run(case, "failed", suite=suite, model=model, checks=checks),
            key=digest_json([suite, case, model]),
        )
        for suite, case, model in product(suites, cases, models)
    ]
    return a_log(folder, [(run, None) for run in runs], suites=suites, models=models)


PIECES = ["a", "b", " ", "  ", "[", "]", " [", "::", ":", ".", "_", "=", "'", "|", "\u200b", "~"]
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
CROSSED = st.lists(NAMES, min_size=1, max_size=3, unique=True)
TWINS = (  # pairs that one text shows, each in some format
    (["a", "a::b"], ["b::c", "c"], ["m"]),
    (["s"], ["a", "a [m]"], ["m", "m] [m"]),
    (["s"], ["a b", "a  b"], ["m"]),
    (["a[[b", "a[ [b"], ["c"], ["m"]),
    (["s"], ["x" * 400 + "a", "x" * 400 + "b"], ["m"]),
    (["s"], ["=a", "'=a"], ["m"]),
    (["s"], ["a", "b", "c"], ["gpt", "gpt+short", "claude"]),
)


def check(log: RunLog, amount: int) -> None:
    for name, ways in FORMATS.items():
        text = written(log, name)
        for what, read, times in ways:
            keys = read(text)
            assert len(keys) == amount * times, (name, what)
            assert len(set(keys)) == len(keys), (name, what, keys)
    titles = [line.partition("title=")[2] for line in workflow_commands(build_report(log))]
    assert len(titles) <= 10
    if amount <= 10:  # more cases than GitHub shows annotations share them
        assert len({title.partition("::")[0] for title in titles}) == amount


@pytest.mark.parametrize(("suites", "cases", "models"), TWINS)
def test_names_that_look_alike_are_told_apart_in_every_format(
    tmp_path: Path, suites: list[str], cases: list[str], models: list[str]
) -> None:
    log = crossing(tmp_path, suites, cases, models)
    check(log, len(suites) * len(cases) * len(models))


@given(CROSSED, CROSSED, CROSSED)
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_any_crossing_of_suites_cases_and_models_has_a_key_for_each_in_every_format(
    tmp_path: Path, suites: list[str], cases: list[str], models: list[str]
) -> None:
    check(crossing(tmp_path, suites, cases, models), len(suites) * len(cases) * len(models))


def test_with_a_single_model_names_are_those_of_the_suite(tmp_path: Path) -> None:
    cases = ["mail [as clerk]", "who is it?", "a::b", "1.5"]
    assert of_junit(written(crossing(tmp_path, ["shop"], cases, ["m [x]"]), "junit")) == [
        ("shop", case) for case in cases
    ]


def test_a_name_does_not_depend_on_the_other_cases_of_the_run(tmp_path: Path) -> None:
    suites, models = ["a", "a::b"], ["m", "n"]
    whole = of_junit(written(crossing(tmp_path, suites, ["c  d", "c d", "e"], models), "junit"))
    part = of_junit(written(crossing(tmp_path, suites, ["c  d"], models), "junit"))
    assert set(part) <= set(whole)
