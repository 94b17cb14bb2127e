"""What only several trials together show, found as results come in."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.judging.log_judging import build_view, order_by_names
from harness.judging.policy import View
from harness.judging.run_judge import RunJudge
from harness.types import CheckResult, Tool, ToolCall, ToolList, Transcript, TrialResult
from tests.judging.test_access import FILTERED, FULL, LEAKING, USERS, a_run, answered, of_case
from tests.often import often

TOOLS = {"tools": ToolList(tools=(Tool(name="get", input_schema={}),), digest="tools")}
REFUSED = Transcript(
    tool_calls=(
        ToolCall(
            tool="get",
            arguments={"id": "C_0042"},
            outcome="denied",
            reply=1,
            text="no",
            refusal="tool_error",
        ),
    ),
    tools=("get",),
    tools_digest="tools",
    answer="I may not.",
)
UNRELATED = answered({"id": "C_0042", "mail": "omar@example.com", "contact": "omar@example.com"})
SEEN = [FULL, FILTERED, LEAKING, REFUSED, UNRELATED]
TESTS = ["mail", "phone", "team"]


def decision(wanted: str) -> CheckResult:
    return CheckResult(
        kind="decision",
        label="decision",
        verdict="passed",
        expected={"is": [wanted], "tool": None},
        actual={"is": "allowed", "tool": "get"},
        traits=("decides_access",),
    )


def judge_of(*suites: str, expected: dict[str, int] | None = None, **facts: Any) -> RunJudge:
    names = [f"{test} [{identity}]" for test in TESTS for identity in USERS]
    return RunJudge(
        suites=dict.fromkeys(suites or ("shop",), facts),
        order=order_by_names(dict.fromkeys(suites or ("shop",), names), ["m", "n"]),
        expected=expected,
    )


def seen(result: TrialResult, transcript: Transcript) -> View:
    return build_view(result, transcript, TOOLS, {})


@st.composite
def trials(draw: st.DrawFn) -> list[tuple[TrialResult, Transcript]]:
    """Draw trials of one suite: several tests, identities and repeats, with whatever they saw."""
    names = draw(
        st.lists(
            st.tuples(
                st.sampled_from(TESTS),
                st.sampled_from(sorted(USERS)),
                st.integers(1, 2),
                st.sampled_from(["m", "n"]),
            ),
            min_size=1,
            max_size=9,
            unique=True,
        )
    )
    found = []
    for test, identity, trial, model in names:
        checks = draw(st.sampled_from([(), (decision("allowed"),), (decision("filtered"),)]))
        result = a_run(
            identity,
            draw(st.sampled_from(["passed", "passed", "failed", "error", "skipped"])),
            test,
            draw(st.sampled_from(["fail", "fail", "ignore"])),
            checks=checks,
            trial=trial,
            model=model,
            key=f"{test} {identity} {trial} {model}",
        )
        if result.status == "skipped" or draw(st.integers(0, 5)) == 0:
            result = of_case(result, group=None)
        found.append((result, draw(st.sampled_from(SEEN))))
    return found


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(trials(), st.data(), st.booleans(), st.booleans())
def test_the_order_of_arrival_changes_nothing(
    found: list[tuple[TrialResult, Transcript]],
    data: st.DataObject,
    required: bool,
    watched: bool,
) -> None:
    at_once = judge_of(require_identity=required)
    told = [
        one for result, it in found for one in at_once.add_result(result, partial(seen, result, it))
    ]
    told += at_once.close()

    one_by_one = judge_of(require_identity=required, expected={"shop": len(found)})
    settled: list[TrialResult] = []
    for result, transcript in data.draw(st.permutations(found)):
        settled += one_by_one.add_result(result, partial(seen, result, transcript))
        if watched:
            one_by_one.find_failing(result)
    assert one_by_one.close() == ()  # the last result has settled everything
    assert len(settled) == len(found)  # and each was settled once
    assert {one.key: one for one in settled} == {one.key: one for one in told}
    assert one_by_one.facts == at_once.facts


def test_what_nothing_can_change_is_settled_at_once() -> None:
    judge = judge_of(expected={"shop": 2})
    plain = of_case(a_run("admin"), group=None, identity=None)
    assert judge.add_result(plain, partial(seen, plain, FULL)) == (plain,)
    unstarted = a_run("clerk", "skipped", stop=None)
    assert judge.add_result(unstarted) == (unstarted,)


def test_a_trial_waits_until_all_trials_of_its_suite_have_ended() -> None:
    judge = judge_of("shop", "other", expected={"shop": 3, "other": 1})
    admin, clerk, late = a_run("admin"), a_run("clerk"), a_run("clerk", test="phone")
    assert judge.add_result(admin, partial(seen, admin, FULL)) == ()
    assert judge.add_result(clerk, partial(seen, clerk, LEAKING)) == ()
    settled = judge.add_result(late, partial(seen, late, FILTERED))
    assert [(one.key, one.status) for one in settled] == [
        ("mail admin", "passed"),
        ("mail clerk", "failed"),
        ("phone clerk", "passed"),
    ]


def test_a_leak_is_known_as_soon_as_the_second_identity_shows_it() -> None:
    judge = judge_of(expected={"shop": 9})
    admin, clerk = a_run("admin"), a_run("clerk")
    judge.add_result(admin, partial(seen, admin, FULL))
    assert judge.find_failing(admin) == ()
    judge.add_result(clerk, partial(seen, clerk, LEAKING))
    (leaking,) = judge.find_failing(clerk)
    assert (leaking.key, leaking.status) == ("mail clerk", "failed")
    assert leaking.checks[0].label == "no_leak mail"


@pytest.mark.parametrize("seen_by_clerk", often([FILTERED, LEAKING]), ids=["sound", "leaking"])
def test_watching_costs_in_proportion_to_the_trials(seen_by_clerk: Transcript) -> None:
    def searched(tests: int) -> float:
        judge = judge_of(expected={"shop": 2 * tests})
        for number in range(tests):
            for identity, transcript in (("admin", FULL), ("clerk", seen_by_clerk)):
                result = a_run(identity, test=f"test {number}")
                judge.add_result(result, partial(seen, result, transcript))
                judge.find_failing(result)
        assert not judge.has_waiting("shop")
        return judge.searched / (2 * tests)

    few, many = searched(25), searched(200)
    assert many < few * 1.6
    assert many < 25
