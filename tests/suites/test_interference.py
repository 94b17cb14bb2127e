"""``interference:`` of a suite: every part of it, and mistakes with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.suites.readers import read_suite
from harness.types import Alteration, DataSet, DependentTool

HEAD = """
suite: people
tests:
  - {name: one, prompt: Who?, assertions: {max_calls: 1}}
interference:
"""
WHOLE = """
  - alters: salary
    description: what Ada earns
    a: {setup: [restore]}
    b:
      env: {SEED: "2"}
      args: [--alter, P-1007]
      setup:
        - {tool: set_salary, args: {person_id: P-1007, salary: 1}}
    setup_as: admin
    withheld_from: [clerk]
    may_depend:
      - count_people
      - {tool: get_statistics, fields: [average]}
  - alters: mail
    b: {env: {MAIL: other@example.com}}
"""


def read(text: str, folder: Path) -> tuple[Alteration, ...]:
    path = folder / "people.yml"
    path.write_text(HEAD + text, encoding="utf-8")
    return read_suite(path, VOCABULARY).alterations


def test_every_part_of_an_alteration_is_read(tmp_path: Path) -> None:
    salary, mail = read(WHOLE, tmp_path)
    assert (salary.field, salary.name, salary.setup_as) == (
        "salary",
        "what Ada earns (salary)",
        "admin",
    )
    assert [call.tool for call in salary.a.setup] == ["restore"]
    assert (salary.b.env, salary.b.args) == ({"SEED": "2"}, ("--alter", "P-1007"))
    assert salary.b.setup[0].arguments == {"person_id": "P-1007", "salary": 1}
    assert salary.withheld_from == ("clerk",)
    assert salary.may_depend == (
        DependentTool(tool="count_people"),
        DependentTool(tool="get_statistics", fields=("average",)),
    )
    assert salary.at is not None
    assert salary.at.line == 7
    assert (mail.name, mail.a) == ("mail", DataSet())


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("  - alters: salary", "has no 'b'"),
        ("  - {b: {args: [x]}}", "has no 'alters'"),
        ("  - {alters: salary, b: {}}", "'b' of number 1 of 'interference' is empty"),
        ("  - {alters: salary, a: {args: [x]}, b: {args: [x]}}", "alters nothing"),
        ("  - {alters: salary, b: {envs: {A: x}}}", "unknown key 'envs'"),
        ("  - {alters: salary, env: {A: x}}", "Put it under 'b:'"),
        ("  - {alters: salary, b: {args: [x]}, may_depend: [{fields: [y]}]}", "has no 'tool'"),
        ("  - {alters: salary, b: {args: [x]}, may_depend: [[y]]}", "expected text"),
        ("  - salary", "expected a mapping"),
    ],
)
def test_a_mistake_in_an_alteration_is_told_with_its_line(
    tmp_path: Path, written: str, told: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(written, tmp_path)
    assert told in str(caught.value)
    assert "people.yml:6" in str(caught.value)


def test_a_secret_of_a_data_set_is_not_shown(tmp_path: Path) -> None:
    (alteration,) = read("  - {alters: mail, b: {env: {TOKEN: hush}, args: [hush]}}", tmp_path)
    assert "hush" not in repr(alteration)
