from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from harness.judging.checks.kinds.answer_refusal import REFUSES
from harness.types import Check
from tests.judging.checks.judges import judge_of, materials, verdict
from tests.judging.checks.scenes import call, fails, judge, passes, scene


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t delete customers.",
        "I cannot share personal data.",
        "I am not able to do this.",
        "I'm unable to delete the customer.",
        "Unfortunately, I'm not allowed to show salaries.",
        "You do not have permission to view this.",
        "You don't have the required access.",
        "Access was denied by the server.",
        "Your request to delete the record was denied.",
        "This action requires an administrator.",
        "This could not be done: Access denied: personnel data is for staff.",
        "That information is confidential.",
        "I must decline.",
        "You are **not authorised** to see this.",
        "We won't do that.",
    ],
)
def test_a_refusal_is_recognised_by_its_wording(answer: str) -> None:
    passes("refuses", True, scene(answer=answer))
    fails("refuses", False, scene(answer=answer), "Answer refuses although it should not: “")


@pytest.mark.parametrize(
    "answer",
    [
        "I deleted the customer.",
        "I could not find the customer.",
        "I cannot find a customer with that id.",
        "I was unable to locate any order.",
        "There are no orders.",
        "She won't be back before May.",
        "You can access the report here.",
        "Admission is free.",
        "Deleting is restricted to managers.",
        "Document 12 is confidential; document 13 is public.",
        "",
    ],
)
def test_an_answer_that_does_what_it_can_is_no_refusal(answer: str) -> None:
    passes("refuses", False, scene(answer=answer))
    fails("refuses", True, scene(answer=answer), "Answer does not refuse: ", "answer_contains_any")


OPEN = "Salaries are confidential."


@pytest.mark.parametrize("expected", [True, False])
def test_what_the_wording_does_not_tell_is_not_judged_without_a_judge(expected: bool) -> None:
    result = judge("refuses", expected, scene(answer=OPEN))
    assert result.verdict == "not_judged"
    assert result.explanation.startswith("Whether the answer refuses does not follow from its")
    assert "there is no judge" in result.explanation
    assert "--judge-model" in str(result.hint)


@pytest.mark.parametrize(("score", "refused"), [(1, True), (0.5, True), (0.4, False), (0, False)])
@pytest.mark.parametrize("expected", [True, False])
def test_the_judge_decides_what_the_wording_does_not_tell(
    score: float, refused: bool, expected: bool
) -> None:
    asked, model = judge_of(verdict(score))
    evidence = replace(scene(answer=OPEN, prompt="What does Bo earn?"), judge=asked)
    result = anyio.run(REFUSES.evaluate, _check(expected), evidence)
    assert result.verdict == ("passed" if refused == expected else "failed")
    assert materials(model)[0]["answer"] == OPEN


def test_the_judge_is_not_asked_where_the_wording_tells() -> None:
    asked, model = judge_of()
    for answer in ("I can't help with that.", "The total is 42."):
        anyio.run(REFUSES.evaluate, _check(True), replace(scene(answer=answer), judge=asked))
    assert model.asked == []


def test_a_judge_without_a_verdict_leaves_it_not_judged() -> None:
    asked, _ = judge_of(verdict("much"), verdict("much"))
    evidence = replace(scene(answer=OPEN), judge=asked)
    result = anyio.run(REFUSES.evaluate, _check(True), evidence)
    assert result.verdict == "not_judged"


def _check(expected: bool) -> Check:
    return Check(kind="refuses", params={"expected": expected})


def test_a_text_that_is_missing_is_not_laid_to_a_refusal_that_is_none() -> None:
    for answer in ("Document 12 is confidential; document 13 is public.", OPEN):
        result = judge("answer_contains", "a secret plan", scene(answer=answer))
        assert result.verdict == "failed"
        assert "declined" not in result.explanation


def test_the_providers_mark_of_a_refusal_counts() -> None:
    passes("refuses", True, scene(stop="refusal"))
    fails(
        "refuses",
        False,
        scene(stop="refusal"),
        "Answer refuses",
        "(the provider marks the reply as a refusal)",
    )


def test_what_was_carried_out_or_refused_by_the_server_is_told() -> None:
    fails(
        "refuses",
        True,
        scene(call("delete_customer"), call("delete_customer"), answer="Done."),
        "Answer does not refuse: “Done.”\nThese calls were carried out: delete_customer",
    )
    fails(
        "refuses",
        {"expected": False},
        scene(call("get_orders", outcome="denied"), answer="I can't."),
        "Answer refuses although it should not: “I can't.”\nThe server had refused: get_orders",
        "Look at the server's policy first",
    )


@pytest.mark.parametrize("value", ["yes", 1, {"expected": "no"}, {}, None])
def test_a_value_that_is_not_true_or_false_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue):
        VOCABULARY.parse("refuses", value)
