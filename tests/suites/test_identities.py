"""``identities:``, ``as:`` and ``expect:``: one test becomes a case for each identity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.judging.checks import VOCABULARY
from harness.types import Case, Location
from tests.suites.files import problems, read, refusal

HEAD = """\
suite: shop
identities:
  admin: {role: admin}
  analyst: {role: analyst}
  visitor:
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def suite(tests: str, head: str = HEAD) -> str:
    return f"{head}tests:\n{tests}"


def cases(tests: str, head: str = HEAD) -> tuple[Case, ...]:
    return read(Path(), suite(tests, head), VOCABULARY).cases


def wrong(tests: str, head: str = HEAD) -> list[str]:
    return problems(Path(), suite(tests, head), VOCABULARY)


def advice(tests: str, head: str = HEAD) -> list[str | None]:
    return [problem.meant for problem in refusal(Path(), suite(tests, head), VOCABULARY).problems]


TEST = """\
  - name: salary
    prompt: What do they earn?
    as: [admin, visitor, anonymous]
    assertions: {must_not_call: [drop]}
"""


def test_a_test_becomes_a_case_for_each_identity_with_its_attributes() -> None:
    assert [
        (case.name, case.caller.group, case.caller.identity, case.caller.user_context)
        for case in cases(TEST)
    ] == [
        ("salary [admin]", "salary", "admin", {"role": "admin"}),
        ("salary [visitor]", "salary", "visitor", None),
        ("salary [anonymous]", "salary", "anonymous", None),
    ]
    assert {check.kind for case in cases(TEST) for check in case.checks} == {"must_not_call"}


def test_anonymous_may_be_somebody_after_all() -> None:
    head = "suite: shop\nidentities: {anonymous: {role: guest}}\n"
    tests = "  - {name: a, prompt: b, as: anonymous, assertions: {must_call: [c]}}\n"
    assert [case.caller.user_context for case in cases(tests, head)] == [{"role": "guest"}]


def test_what_is_expected_of_an_identity_comes_before_what_holds_for_all() -> None:
    tests = TEST + (
        "    tool: get_salary\n    expect:\n      admin: {must_call: [get_salary]}\n      "
        "visitor: [denied, hidden]\n"
    )
    admin, visitor, nobody = cases(tests)
    assert [check.kind for check in admin.checks] == ["must_call", "must_not_call"]
    assert [check.kind for check in visitor.checks] == ["decision", "must_not_call"]
    assert visitor.checks[0].params == {
        "tool": "get_salary",
        "args": {},
        "is": ["denied", "hidden"],
    }
    assert visitor.checks[0].at == Location(file="shop.yml", line=14, column=16)
    assert [check.kind for check in nobody.checks] == ["must_not_call"]


def test_a_decision_may_name_fields_and_stand_beside_checks() -> None:
    tests = TEST + (
        "    tool: {tool: get_salary, args: {id: 7}}\n"
        "    expect:\n      visitor: {decision: filtered, without: [salary], answer_contains: "
        "[no]}\n"
    )
    checks = cases(tests)[1].checks
    assert checks[0].params == {
        "tool": "get_salary",
        "args": {"id": 7},
        "is": ["filtered"],
        "without": ["salary"],
    }
    assert [check.kind for check in checks] == ["decision", "answer_contains", "must_not_call"]


def test_identities_may_stand_in_the_defaults_and_a_test_goes_before_them() -> None:
    head = (
        HEAD
        + "contexts: {clerk: {role: clerk}}\ndefaults: {as: [admin, anonymous], leaks: ignore}\n"
    )
    tests = (
        "  - {name: a, prompt: a, assertions: {must_call: [x]}}\n"
        "  - {name: b, prompt: b, as: [analyst], assertions: {must_call: [x]}}\n"
        "  - {name: c, prompt: c, user_context: clerk, assertions: {must_call: [x]}}\n"
    )
    found = cases(tests, head)
    assert [case.name for case in found] == ["a [admin]", "a [anonymous]", "b [analyst]", "c"]
    assert {case.caller.leaks for case in found} == {"ignore"}
    assert found[3].caller.user_context == {"role": "clerk"}


def test_several_identities_are_something_to_be_checked_for_leaks_and_one_is_not() -> None:
    assert len(cases("  - {name: a, prompt: b, as: [admin, analyst]}\n")) == 2
    assert wrong("  - {name: a, prompt: b, as: [admin]}\n") == ["7:5: test 'a' checks nothing."]
    assert wrong("  - {name: a, prompt: b, as: [admin, analyst], leaks: ignore}\n") == [
        "7:5: test 'a' checks nothing."
    ]


def test_parameters_and_identities_multiply() -> None:
    tests = (
        "  - name: a\n    prompt: Person ${{ id }}\n    parameters: [{id: 1}, {id: 2}]\n    as: "
        "[admin, analyst]\n"
        "    tool: {tool: get, args: {id: '${{ id }}'}}\n    expect: {analyst: denied}\n"
    )
    found = cases(tests)
    assert [(case.name, case.caller.group) for case in found] == [
        ("a[id=1] [admin]", "a[id=1]"),
        ("a[id=1] [analyst]", "a[id=1]"),
        ("a[id=2] [admin]", "a[id=2]"),
        ("a[id=2] [analyst]", "a[id=2]"),
    ]
    assert found[3].checks[0].params["args"] == {"id": 2}


@pytest.mark.parametrize(
    ("tests", "problem", "meant"),
    [
        ("as: [admn]", "9:10: there is no identity 'admn'.", "Did you mean 'admin'?"),
        ("as: [admin, admin]", "9:17: as: 'admin' is named twice.", "Remove one."),
        ("as: []", "9:9: as: there are no identities.", "Write 'as: [admin, anonymous]'."),
        (
            "as: [admin]\n    user_context: {}",
            "10:5: 'as' and 'user_context' both set the caller.",
            "Keep one of them.",
        ),
        (
            "expect: {admin: denied}",
            "9:5: test 'a' has 'expect' but no 'as'.",
            "Add 'as: [admin, anonymous]'.",
        ),
        (
            "as: [admin]\n    expect: {analyst: denied}",
            "10:14: test 'a' does not have the identity 'analyst'.",
            "Its identities are admin.",
        ),
        (
            "as: [admin]\n    expect: {admin: deny}",
            '10:21: admin: there is no decision "deny".',
            "Did you mean 'denied'?",
        ),
        (
            "as: [admin]\n    expect: {admin: hidden}",
            "10:21: admin: 'hidden' does not say which tool.",
            "Name it under 'tool:' of the test.",
        ),
        (
            "as: [admin]\n    expect: {admin: {decision: [denied, maybe]}}",
            '10:41: admin: there is no decision "maybe".',
            None,
        ),
        (
            "as: [admin]\n    expect: {admin: {mustcall: [x]}}",
            "10:22: unknown key 'mustcall' in expectation for 'admin' of test 'a'.",
            "Did you mean 'must_call'?",
        ),
        (
            "as: [admin]\n    tool: x",
            "10:5: test 'a' has 'tool', but no 'expect' that refers to it.",
            None,
        ),
        (
            "as: [admin, analyst]\n    expect: {admin: denied, analyst: }",
            "10:29: analyst: there is no value.",
            "Write what is expected, such as 'denied', or leave the name out.",
        ),
        (
            "as: [admin]\n    expect: {admin: {without: , decision: denied}}",
            "10:22: without: there is no value.",
            "Write what is expected, or leave the key out.",
        ),
        (
            "as: [admin]\n    expect: {admin: {answer_contains: }}",
            "10:22: answer_contains: there is no value.",
            "Write a list of at least one item, or leave the key out.",
        ),
        (
            "as: [admin]\n    leaks: no",
            '10:12: leaks: expected one of fail, ignore; found "no".',
            None,
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_was_meant(
    tests: str, problem: str, meant: str | None
) -> None:
    text = f"  - name: a\n    prompt: b\n    {tests}\n    assertions: {{must_call: [x]}}\n"
    assert wrong(text) == [problem]
    if meant is not None:
        assert advice(text) == [meant]


def test_identities_that_are_no_mappings_are_told_once() -> None:
    head = "suite: shop\nidentities: {admin: 5}\n"
    assert wrong("  - {name: a, prompt: b, as: [admin, anonymous]}\n", head) == [
        "2:21: identities: expected a mapping (lines of 'key: value'), or nothing; found 5."
    ]


def test_a_star_expects_the_same_of_every_identity_that_is_not_named() -> None:
    made = cases(TEST + '    expect: {admin: allowed, "*": denied}\n')
    decided = {case.caller.identity: case.checks[0].params["is"] for case in made}
    assert decided == {"admin": ["allowed"], "visitor": ["denied"], "anonymous": ["denied"]}


def test_what_is_wrong_under_a_star_is_told_at_its_line() -> None:
    (told, *_) = wrong(TEST + '    expect: {admin: allowed, "*": deneid}\n')
    assert '*: there is no decision "deneid"' in told


BY_TOOL = """\
suite: shop
identities: {admin: {role: admin}, analyst: {role: analyst}}
defaults:
  as: [admin, analyst, anonymous]
  expect:
    get_salary: {admin: allowed, "*": denied}
"""
SALARY = "  - {name: a, prompt: b, tool: {tool: get_salary, args: {id: 1}}"


def expected_of(made: tuple[Case, ...]) -> dict[str | None, list[Any]]:
    return {
        case.caller.identity: [(check.params["is"], check.params["args"]) for check in case.checks]
        for case in made
    }


def test_what_is_expected_of_a_tool_may_be_written_once_for_all_tests_about_it() -> None:
    made = cases(f"{SALARY}}}\n  - {{name: c, prompt: d}}\n", BY_TOOL)
    assert expected_of(made[:3]) == {
        "admin": [(["allowed"], {"id": 1})],
        "analyst": [(["denied"], {"id": 1})],
        "anonymous": [(["denied"], {"id": 1})],
    }
    assert [case.checks for case in made[3:]] == [(), (), ()]
    assert made[1].checks[0].at == Location(file="shop.yml", line=6, column=39)


def test_a_test_replaces_what_is_expected_of_its_tool_by_identity() -> None:
    one = expected_of(cases(f"{SALARY}, expect: {{analyst: filtered}}}}\n", BY_TOOL))
    assert [each[0][0] for each in one.values()] == [["allowed"], ["filtered"], ["denied"]]
    all_others = expected_of(cases(f'{SALARY}, expect: {{"*": hidden}}}}\n', BY_TOOL))
    assert [each[0][0] for each in all_others.values()] == [["hidden"]] * 3


@pytest.mark.parametrize(
    ("expect", "problem", "meant"),
    [
        (
            "get_salry: {admin: allowed}",
            "6:5: no test has the tool 'get_salry' under 'tool:'.",
            "Did you mean 'get_salary'?",
        ),
        (
            "get_salary: {amdin: allowed}",
            "6:18: there is no identity 'amdin'.",
            "Did you mean 'admin'?",
        ),
        (
            "get_salary: {admin: }",
            "6:18: admin: there is no value.",
            "Write what is expected, such as 'denied', or leave the name out.",
        ),
        (
            "admin: allowed",
            '6:12: expect: expected identities and what each gets of the tool, found "allowed".',
            "Write 'admin: {admin: allowed, \"*\": denied}', by the tool's name.",
        ),
        (
            "get_salary: {admin: alowed}",
            '6:25: admin: there is no decision "alowed".',
            "Did you mean 'allowed'?",
        ),
    ],
)
def test_a_mistake_in_what_is_expected_of_a_tool_is_told_with_its_line(
    expect: str, problem: str, meant: str
) -> None:
    head = BY_TOOL.replace('get_salary: {admin: allowed, "*": denied}', expect)
    test = f"{SALARY}, expect: {{anonymous: denied}}}}\n"
    assert wrong(test, head)[0] == problem
    assert advice(test, head)[0] == meant
