"""Defaults, contexts, turns, scripted calls and repeats: the parts of a test beside its prompt.

What a test shares, and what it does beside one prompt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.types import Case, Limits, Location, ScriptedCall
from tests.suites.files import TESTS, problems, read, refusal


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one(folder: Path, head: str = "", tail: str = "") -> Case:
    (case,) = read(folder, f"suite: shop\n{head}{TESTS}{tail}").cases
    return case


# ── Defaults ─────────────────────────────────────────────────────────────────────────────────

DEFAULTS = """\
defaults:
  user_context: {role: clerk}
  timeout: 30
  max_calls: 4
  tags: [smoke]
  metadata: {owner: a, level: 1}
  trials: 3
  pass_threshold: 0.6
  setup: [{tool: reset}]
  teardown: [{tool: forget, args: {all: true}}]
  assertions:
    must_not_call: [drop_table]
"""


def test_defaults_hold_for_a_test_that_says_nothing_else(folder: Path) -> None:
    case = one(folder, DEFAULTS)
    assert case.caller.user_context == {"role": "clerk"}
    assert case.limits == Limits(timeout_s=30, max_calls=4)
    assert (case.tags, case.metadata) == (("smoke",), {"owner": "a", "level": 1})
    assert (case.repeats.trials, case.repeats.pass_threshold) == (3, 0.6)
    assert [check.kind for check in case.checks] == ["must_call", "must_not_call"]
    assert case.checks[1].at == Location(file="shop.yml", line=13, column=21)


def test_what_a_test_says_goes_before_the_defaults_or_is_added(folder: Path) -> None:
    tail = """\
    user_context: {role: admin}
    timeout: 5
    tags: [slow]
    metadata: {owner: b}
    trials: 1
    pass_threshold: 1
    setup: [create]
    teardown: [remove]
"""
    case = one(folder, DEFAULTS, tail)
    assert case.caller.user_context == {"role": "admin"}
    assert case.limits == Limits(timeout_s=5, max_calls=4)
    assert (case.tags, case.metadata) == (("smoke", "slow"), {"owner": "b", "level": 1})
    assert (case.repeats.trials, case.repeats.pass_threshold) == (1, 1.0)
    assert [call.tool for call in case.setup] == ["reset", "create"]  # from the outside in
    assert [call.tool for call in case.teardown] == ["remove", "forget"]  # and out again


def test_limits_may_stand_at_the_top_or_under_defaults_and_not_in_both(folder: Path) -> None:
    assert one(folder, "timeout: 9\ndefaults: {max_calls: 2}\n").limits == Limits(
        timeout_s=9, max_calls=2
    )
    error = refusal(folder, f"suite: shop\ntimeout: 9\ndefaults: {{timeout: 9}}\n{TESTS}")
    assert str(error) == (
        "shop.yml:3:12: 'timeout' is also written at the top of the suite.\n    Keep one of them."
    )


def test_assertions_of_the_defaults_are_enough_for_a_test(folder: Path) -> None:
    text = (
        "suite: shop\ndefaults: {assertions: {must_not_call: [x]}}\ntests: [{name: a, prompt: x}]\n"
    )
    assert len(read(folder, text).cases[0].checks) == 1


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("system_prompt", "at the top of the suite"),
        ("prompt", "into a test"),
        ("matrix", "into a test"),
        ("must_call", "under 'assertions:'"),
        ("user_contxt", "Did you mean 'user_context'?"),
    ],
)
def test_a_key_that_is_no_default_is_told_where_it_belongs(
    folder: Path, key: str, advice: str
) -> None:
    (problem,) = refusal(folder, f"suite: shop\ndefaults: {{{key}: x}}\n{TESTS}").problems
    assert problem.message == f"unknown key '{key}' in defaults."
    assert advice in str(problem.meant)


@pytest.mark.parametrize("key", ["assertions", "setup", "trials", "pass_threshold"])
def test_a_default_at_the_top_of_the_suite_is_told_where_it_belongs(folder: Path, key: str) -> None:
    (problem,) = refusal(folder, f"suite: shop\n{key}: 1\n{TESTS}").problems
    assert problem.meant == "Put it into a test, or under 'defaults:' for all tests."


def test_a_mistake_in_the_defaults_is_told_once(folder: Path) -> None:
    text = """\
        suite: shop
        defaults:
          assertions: {must_cal: [x]}
        tests: [{name: a, prompt: x}, {name: b, prompt: x}]
    """
    assert problems(folder, text) == ["3:16: unknown key 'must_cal' in assertions of defaults."]


# ── Contexts ─────────────────────────────────────────────────────────────────────────────────

CONTEXTS = "contexts: {admin: {role: admin}, nobody: }\n"


def test_a_user_may_be_named(folder: Path) -> None:
    assert one(folder, CONTEXTS, "    user_context: admin\n").caller.user_context == {
        "role": "admin"
    }


def test_a_context_without_a_value_is_nobody_whatever_the_default(folder: Path) -> None:
    head = f"{CONTEXTS}defaults: {{user_context: admin}}\n"
    assert one(folder, head).caller.user_context == {"role": "admin"}
    assert one(folder, head, "    user_context: nobody\n").caller.user_context is None


def test_an_unknown_context_is_told_the_nearest(folder: Path) -> None:
    error = refusal(folder, f"suite: shop\n{CONTEXTS}{TESTS}    user_context: amdin\n")
    assert str(error) == "shop.yml:8:19: there is no context 'amdin'.\n    Did you mean 'admin'?"


def test_a_context_where_there_are_none_is_told_how_to_name_one(folder: Path) -> None:
    assert "under 'contexts:' of the suite" in str(
        refusal(folder, f"suite: shop\n{TESTS}    user_context: admin\n")
    )


def test_contexts_are_mappings(folder: Path) -> None:
    text = f"suite: shop\ncontexts: {{admin: yes}}\n{TESTS}    user_context: admin\n"
    assert problems(folder, text) == [
        "2:19: contexts: expected a mapping (lines of 'key: value'), or nothing; found \"yes\"."
    ]


def test_a_context_is_named_by_user_context_alone(folder: Path) -> None:
    (problem,) = refusal(folder, f"suite: shop\n{CONTEXTS}{TESTS}    context: admin\n").problems
    assert "named by 'user_context: …'" in str(problem.meant)


# ── Turns ────────────────────────────────────────────────────────────────────────────────────

TALK = """\
    suite: shop
    tests:
      - name: talk
        turns:
          - prompt: Who is our best customer?
            assertions: {must_call: [search]}
          - prompt: And what did they buy?
          - prompt: Thank you.
            expected_answer: You are welcome.
        assertions: {must_not_call: [drop]}
"""


def test_turns_are_what_the_user_says_one_after_the_other(folder: Path) -> None:
    (case,) = read(folder, TALK).cases
    assert case.prompts == ("Who is our best customer?", "And what did they buy?", "Thank you.")
    assert case.prompt == "Who is our best customer?"
    assert [[check.kind for check in turn.checks] for turn in case.turns] == [
        ["must_call"],
        [],
        ["expected_answer"],
    ]
    assert [check.kind for check in case.every_check] == [
        "must_call",
        "expected_answer",
        "must_not_call",
    ]
    assert case.turns[0].checks[0].at == Location(file="shop.yml", line=6, column=34)


def test_a_check_of_a_turn_is_enough_for_a_test(folder: Path) -> None:
    (case,) = read(folder, TALK.replace("        assertions: {must_not_call: [drop]}\n", "")).cases
    assert case.checks == ()


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        ("{name: a, turns: [{prompt: x}]}", "test 'a' checks nothing."),
        ("{name: a, turns: [], expected_answer: x}", "turns: there are no turns."),
        (
            "{name: a, turns: x, expected_answer: x}",
            "turns: expected a list (lines that begin with '- '), found \"x\".",
        ),
        (
            "{name: a, turns: {prompt: x}, expected_answer: x}",
            "turns: expected a list of turns, found a mapping.",
        ),
        (
            "{name: a, turns: [x], expected_answer: x}",
            "turn 1 of test 'a': expected a mapping (lines of 'key: value'), found \"x\".",
        ),
        ("{name: a, turns: [{expected_answer: x}]}", "turn 1 of test 'a' has no 'prompt'."),
        (
            "{name: a, turns: [{promt: x, prompt: y}], expected_answer: x}",
            "unknown key 'promt' in turn 1 of test 'a'.",
        ),
        (
            "{name: a, prompt: x, turns: [{prompt: y}], expected_answer: x}",
            "test 'a' has both 'prompt' and 'turns'.",
        ),
        ("{name: a, expected_answer: x}", "test 'a' has no 'prompt'."),
    ],
)
def test_a_mistake_in_turns_is_told(folder: Path, test: str, problem: str) -> None:
    (found,) = problems(folder, f"suite: shop\ntests:\n  - {test}\n")
    assert found.split(": ", 1)[1] == problem


def test_what_holds_for_all_turns_is_told_to_stand_beside_them(folder: Path) -> None:
    test = "{name: a, turns: [{prompt: x, user_context: {}}], expected_answer: x}"
    (problem,) = refusal(folder, f"suite: shop\ntests:\n  - {test}\n").problems
    assert problem.meant == "Put it into the test, beside 'turns:': it holds for all of them."


# ── Setup and teardown ───────────────────────────────────────────────────────────────────────


def test_scripted_calls_are_written_short_or_long(folder: Path) -> None:
    case = one(
        folder,
        tail="    setup:\n      - reset\n      - {tool: create, args: {id: 5, deep: [null]}}\n",
    )
    assert case.setup == (
        ScriptedCall(tool="reset", at=Location(file="shop.yml", line=8, column=9)),
        ScriptedCall(
            tool="create",
            arguments={"id": 5, "deep": [None]},
            at=Location(file="shop.yml", line=9, column=9),
        ),
    )


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ("x", "setup: expected a list (lines that begin with '- '), found \"x\"."),
        (
            "[5]",
            (
                "number 1 of setup of test 'one': expected a tool's name, or a mapping with 'tool' "
                "and "
                "'args'; found 5."
            ),
        ),
        ("[{args: {}}]", "number 1 of setup of test 'one' has no 'tool'."),
        (
            "[{tool: x, args: [1]}]",
            "args: expected a mapping (lines of 'key: value'), found a list.",
        ),
        (
            "[{tool: x, arguments: {}}]",
            "unknown key 'arguments' in number 1 of setup of test 'one'.",
        ),
    ],
)
def test_a_mistake_in_a_scripted_call_is_told(folder: Path, calls: str, problem: str) -> None:
    (found,) = problems(folder, f"suite: shop\n{TESTS}    setup: {calls}\n")
    assert found.split(": ", 1)[1] == problem


# ── Repeats ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("trials: 0", "trials: expected a whole number from 1 up, found 0."),
        ("trials: 1001", "trials: at most 1000 trials, found 1001."),
        ("trials: 1.5", "trials: expected a whole number from 1 up, found 1.5."),
        ("pass_threshold: 0", "pass_threshold: expected a share above 0 and up to 1, found 0."),
        ("pass_threshold: 80", "pass_threshold: expected a share above 0 and up to 1, found 80."),
        (
            "pass_threshold: most",
            'pass_threshold: expected a share above 0 and up to 1, found "most".',
        ),
    ],
)
def test_repeats_out_of_their_bounds_are_refused(folder: Path, line: str, problem: str) -> None:
    (found,) = problems(folder, f"suite: shop\n{TESTS}    {line}\n")
    assert found.split(": ", 1)[1] == problem


def test_a_percentage_is_told_how_to_write_it(folder: Path) -> None:
    (problem,) = refusal(folder, f"suite: shop\n{TESTS}    pass_threshold: 80\n").problems
    assert problem.meant == "Write 80 % as 0.8."


def test_nothing_of_all_this_is_needed(folder: Path) -> None:
    case = one(folder)
    unused: list[Any] = [
        case.turns,
        case.setup,
        case.teardown,
        case.repeats.trials,
        case.repeats.pass_threshold,
    ]
    assert unused == [(), (), (), None, 1.0]


def test_a_credential_holds_for_one_test_or_for_all(folder: Path) -> None:
    assert one(folder, "").caller.credential == "valid"
    assert one(folder, "defaults: {credential: none}\n").caller.credential == "none"
    assert (
        one(folder, "defaults: {credential: none}\n", "    credential: expired\n").caller.credential
        == "expired"
    )
    error = refusal(folder, f"suite: shop\ncredential: none\n{TESTS}")
    assert "Put it into a test" in str(error)
