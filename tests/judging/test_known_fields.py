"""`harness.judging.run_judge` by itself: which names count as known, and to whom."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.policy import View
from harness.judging.run_judge import check_known_fields
from harness.types import (
    CaseFacts,
    CheckResult,
    JsonObject,
    Outcome,
    Status,
    Tool,
    ToolCall,
    ToolList,
    TrialResult,
)

RECORD = {"id": "C-1", "rows": [{"Email": "ann@example.com"}]}


def a_view(
    identity: str, result: Any = None, *, outcome: Outcome = "ok", schema: JsonObject | None = None
) -> View:
    call = ToolCall(tool="get", arguments={}, outcome=outcome, reply=1, structured=result)
    tool = Tool(name="get", input_schema={}, output_schema=schema)
    return View(identity=identity, calls=(call,), tools=ToolList(tools=(tool,)))


def a_result(without: Any, status: Status = "passed", **check: Any) -> TrialResult:
    facts = {"kind": "decision", "label": "decision", "verdict": "passed", **check}
    facts.setdefault("traits", ("decides_access",))
    expected = {"is": ["filtered"], "tool": "get", "without": without}
    return TrialResult(
        key="k",
        suite="s",
        case=CaseFacts(name="c", identity="agent"),
        model="m",
        trial=1,
        status=status,
        checks=(CheckResult(**{"expected": expected, **facts}),),
    )


def judged(result: TrialResult, *views: View) -> TrialResult:
    (found,) = check_known_fields([result], views)
    return found


SEEN = (a_view("admin", RECORD), a_view("agent", {"id": "C-1"}))


@pytest.mark.parametrize("name", ["email", "EMAIL", "rows.email", "rows[].email", "id"])
def test_a_name_that_somebody_was_shown_is_known(name: str) -> None:
    result = a_result([name])
    assert judged(result, *SEEN) == result


def test_a_name_that_nobody_was_shown_is_an_error_with_the_one_that_was_meant() -> None:
    found = judged(a_result(["emial"]), *SEEN)
    assert (found.status, found.checks[0].verdict) == ("error", "not_judged")
    assert found.error is not None
    assert "No result has a field 'emial'" in found.error.message
    assert "Email" in found.checks[0].explanation
    assert "allow_unknown: true" in str(found.checks[0].hint)


def test_each_unknown_name_is_told_and_a_part_of_a_name_is_another_name() -> None:
    found = judged(a_result(["mail", "phone", "email"]), *SEEN)
    assert "'mail' or 'phone'" in found.checks[0].explanation


def test_a_field_that_a_tool_announces_is_known_though_nobody_has_it() -> None:
    schema: JsonObject = {"anyOf": [{"properties": {"deep": {"properties": {"phone": {}}}}}]}
    views = (a_view("admin", RECORD, schema=schema), a_view("agent", {"id": "C-1"}))
    assert judged(a_result(["phone"]), *views).status == "passed"


@pytest.mark.parametrize(
    "views",
    [
        (),
        (a_view("agent", {"id": "C-1"}),),
        (a_view("admin", RECORD, outcome="denied"), a_view("agent", {"id": "C-1"})),
    ],
)
def test_nothing_is_said_where_no_other_identity_was_answered(views: tuple[View, ...]) -> None:
    assert judged(a_result(["emial"]), *views).status == "passed"


def test_a_suite_may_say_that_no_result_is_meant_to_have_the_field() -> None:
    without = {"fields": ["emial"], "mask": "partial", "allow_unknown": True}
    assert judged(a_result(without), *SEEN).status == "passed"


@pytest.mark.parametrize(
    "result",
    [
        a_result(["emial"], "failed", verdict="failed"),
        a_result(["emial"], traits=()),
        a_result(["emial"], expected="filtered"),
        a_result([]),
    ],
)
def test_checks_that_name_no_field_or_failed_anyhow_stay_as_they_are(result: TrialResult) -> None:
    assert judged(result, *SEEN) == result
