from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.base.errors import InvalidValue, JudgeError
from harness.judging.checks import VOCABULARY
from harness.judging.checks.kind import CheckKind, Evidence
from harness.judging.checks.registry import KINDS
from harness.types import Check, CheckResult, JsonObject, JsonPath, Usage
from tests.judging.checks.scenes import call, fails, judge, passes, scene

UNKNOWN = {"max_cost": 1}  # cannot be judged where the price is unknown
TRUE = {"answer_contains": ["yes"]}
FALSE = {"answer_contains": ["no such words"]}


def unpriced(**more: Any) -> Evidence:
    return scene(answer="yes", usage=Usage(cost_usd=None), **more)


@pytest.mark.parametrize(
    ("kind", "value", "verdict"),
    [
        ("any_of", [FALSE, TRUE], "passed"),
        ("any_of", [FALSE, FALSE], "failed"),
        ("any_of", [UNKNOWN, TRUE], "passed"),
        ("any_of", [UNKNOWN, FALSE], "not_judged"),
        ("any_of", [{**TRUE, **UNKNOWN}, FALSE], "not_judged"),
        ("any_of", [{**FALSE, **UNKNOWN}], "failed"),
        ("all_of", [TRUE, TRUE], "passed"),
        ("all_of", [TRUE, FALSE], "failed"),
        ("all_of", [UNKNOWN, FALSE], "failed"),
        ("all_of", [UNKNOWN, TRUE], "not_judged"),
        ("not", FALSE, "passed"),
        ("not", TRUE, "failed"),
        ("not", UNKNOWN, "not_judged"),
        ("not", {**TRUE, "answer_not_contains": ["yes"]}, "passed"),
        ("not", {"any_of": [FALSE, {"not": TRUE}]}, "passed"),
    ],
)
def test_a_group_is_decided_by_its_members(kind: str, value: Any, verdict: str) -> None:
    assert judge(kind, value, unpriced()).verdict == verdict


def test_a_group_that_holds_says_nothing() -> None:
    passes("any_of", [FALSE, TRUE], scene(answer="yes"))
    passes("all_of", [TRUE], scene(answer="yes"))
    passes("not", FALSE, scene(answer="yes"))


def test_alternatives_that_all_fail_are_told_one_by_one() -> None:
    result = fails(
        "any_of",
        [{"must_call": ["get_orders"]}, {"answer_contains": ["x"], "refuses": True}],
        scene(call("weather"), answer="The order."),
        "None of the alternatives holds:\n— must_call get_orders (failed): Expected call not "
        "found: get_orders(…)",
        '— answer_contains "x" (failed): Answer does not contain expected text: "x"',
        "— refuses (failed): Answer does not refuse",
        "Say more clearly in the description of get_orders",
    )
    assert result.label == 'any_of must_call get_orders | answer_contains "x" & refuses'
    assert result.expected == {
        "any_of": [["must_call get_orders"], ['answer_contains "x"', "refuses"]]
    }


def test_the_parts_that_fail_are_told_and_the_others_not() -> None:
    result = fails(
        "all_of",
        [TRUE, FALSE],
        scene(answer="yes"),
        'Not all parts of the group hold:\n— answer_contains "no',
    )
    assert '"yes"' not in result.explanation


def test_what_holds_although_it_must_not_is_told() -> None:
    fails(
        "not",
        TRUE,
        scene(answer="yes"),
        'This holds although it must not:\n  answer_contains "yes" (passed)',
        "Narrow",
    )


def test_what_cannot_be_judged_is_told_with_its_reason() -> None:
    result = judge("any_of", [UNKNOWN, FALSE], unpriced())
    assert result.explanation.startswith(
        "The group cannot be judged:\n— max_cost 1 (not judged): The limit of 1"
    )


def test_many_long_failures_stay_within_bounds() -> None:
    members = [{"answer_contains": ["x" * 500]} for _ in range(30)]
    result = fails(
        "any_of",
        members,
        scene(answer="y" * 5_000),
        "None of the alternatives holds:",
        "… and 25 more",
    )
    assert len(result.explanation) <= 1_500


def test_the_group_carries_the_severity() -> None:
    result = judge("any_of", {"of": [FALSE], "severity": "warn"}, scene())
    assert (result.verdict, result.severity) == ("failed", "warn")


@pytest.mark.parametrize(
    ("kind", "value", "path", "said", "meant"),
    [
        (
            "any_of",
            [],
            (),
            "this list is empty",
            "one item for each",
        ),
        (
            "any_of",
            {"must_call": ["a"]},
            (),
            "this is a mapping where a list of assertions belongs",
            "",
        ),
        ("any_of", ["a"], (0,), "this is a string where a mapping of assertions belongs", ""),
        ("any_of", [{}], (0,), "this group has no check", ""),
        ("any_of", [{"must_call": []}], (0, "must_call"), "this list is empty", ""),
        (
            "any_of",
            [{"must_cal": ["a"]}],
            (0, "must_cal"),
            "there is no check 'must_cal'",
            "Did you mean 'must_call'?",
        ),
        (
            "any_of",
            [TRUE, {"must_call": ["a", 5]}],
            (1, "must_call", 1),
            "this is a number",
            'Quote it: "5".',
        ),
        ("any_of", {"of": [{"must_call": 5}]}, ("of", 0, "must_call"), "this is a number", ""),
        (
            "any_of",
            {"of": [TRUE], "severty": "warn"},
            ("severty",),
            "unknown key",
            "Did you mean 'severity'?",
        ),
        (
            "any_of",
            [{"must_call": [{"tool": "a", "severity": "warn"}]}],
            (0, "must_call", 0),
            "a severity belongs to the whole group",
            "{of: …, severity: warn}",
        ),
        ("not", [TRUE], (), "this is a list where a mapping of assertions belongs", ""),
        (
            "not",
            {"of": {"any_of": [{"max_replies": "x"}]}},
            ("of", "any_of", 0, "max_replies"),
            "this is a string",
            "",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(
    kind: str, value: Any, path: Any, said: str, meant: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse(kind, value)
    assert caught.value.path == path
    assert said in caught.value.message
    assert meant in (caught.value.meant or "")


def test_a_group_inside_itself_is_refused_and_not_followed_for_ever() -> None:
    loop: dict[str, Any] = {}
    loop["not"] = loop
    with pytest.raises(InvalidValue, match="nested too deeply"):
        VOCABULARY.parse("not", loop)


class _BrokenJudge(CheckKind):
    """A check from outside whose judge never gives a verdict."""

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, JsonObject]]:
        return (((), {}),)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        raise JudgeError("the judge timed out")


def test_a_judge_that_fails_leaves_the_decision_to_the_other_members(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(KINDS._loaded, "refuses", _BrokenJudge())
    assert judge("any_of", [{"refuses": True}, TRUE], scene(answer="yes")).verdict == "passed"
    result = judge("any_of", [{"refuses": True}, FALSE], scene(answer="yes"))
    assert result.verdict == "not_judged"
    assert "the judge timed out" in result.explanation


class _Wordy(_BrokenJudge):
    """A check from outside that fails with an explanation of a given length."""

    def parse(self, value: Any) -> Sequence[tuple[JsonPath, JsonObject]]:
        return (((), {"size": value}),)

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        return CheckResult(
            kind="refuses",
            label="refuses",
            verdict="failed",
            explanation="x" * check.params["size"],
            at=check.at,
        )


@pytest.mark.parametrize(("failed", "room"), [(1, 1_250), (2, 550), (5, 130), (6, 130)])
def test_the_members_that_are_told_share_the_room(
    failed: int, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS._loaded, "refuses", _Wordy())
    for size, told in ((room, "x" * room), (room + 1, "x" * (room - 1) + "…")):
        result = judge("any_of", [{"refuses": size}] * failed, scene())
        lines = result.explanation.splitlines()
        assert lines[1 : 1 + min(failed, 5)] == [f"— refuses (failed): {told}"] * min(failed, 5)
        assert lines[6:] == (["… and 1 more"] if failed == 6 else [])
