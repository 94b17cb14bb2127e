"""Checks inside of groups, as everything that looks at checks meets them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from harness.base.errors import HarnessError
from harness.judging.checks import VOCABULARY
from harness.judging.checks.judge.judge_needs import find_judge_needs
from harness.judging.checks.named_arguments import valid_calls
from harness.judging.checks.named_tools import tool_names
from harness.judging.checks.nested_checks import every_check, walk_checks
from harness.judging.checks.registry import KINDS
from harness.suites.readers import read_suite
from harness.types import Case, Check, Location
from tests.judging.checks.scenes import scene

SUITE = """\
suite: groups
server: {command: x}
tests:
  - name: one
    prompt: hi
    assertions:
      any_of:
        of:
          - must_call: [{tool: a, args: {x: 1}}]
            not: {answer_contains: [secret]}
          - all_of: [{must_call: [b]}, {refuses: true}]
        severity: warn
      not: {must_error: {tool: a}}
      must_call: [c]
"""


@pytest.fixture
def case(tmp_path: Path) -> Case:
    path = tmp_path / "groups.yml"
    path.write_text(SUITE, "utf-8")
    return read_suite(path, VOCABULARY).cases[0]


def test_every_check_is_visited_once_each_group_before_its_members(case: Case) -> None:
    assert [check.kind for check in every_check(case)] == [
        *("any_of", "must_call", "not", "answer_contains", "all_of", "must_call", "refuses"),
        *("not", "must_error", "must_call"),
    ]


def test_a_check_inside_a_group_stands_where_the_suite_has_the_group(case: Case) -> None:
    for check in case.checks:
        assert {one.at for one in check.walk()} == {check.at}


def test_a_change_reaches_every_check_of_a_group(case: Case) -> None:
    at = Location(file="x", line=7)
    moved = case.checks[0].transform(lambda check: replace(check, at=at))
    assert {check.at for check in moved.walk()} == {at}
    assert moved.dump_params() == case.checks[0].dump_params()


def test_params_that_another_kind_calls_options_are_no_group() -> None:
    check = Check(kind="answer_contains", params={"text": "x", "options": ["strict", {"deep": 1}]})
    case = Case(name="c", prompt="p", checks=(check,))
    assert list(every_check(case)) == list(walk_checks([check])) == [check]
    assert [*valid_calls(check), *tool_names(check), *find_judge_needs([check])] == []


def test_a_group_in_which_nothing_stands_never_passes() -> None:
    check = Check(kind="all_of", params={"options": [[{"kind": "must_call", "params": {}}]]})
    with pytest.raises(HarnessError, match="all_of has no options"):
        anyio.run(KINDS.get("all_of").evaluate, check, scene())
