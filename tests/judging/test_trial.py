from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.trial import events_digest, judge_trial, teardown_warnings
from harness.types import (
    AssistantMessage,
    Case,
    CheckResult,
    Limits,
    Reply,
    Stop,
    ToolCall,
    Transcript,
    Trial,
    TrialError,
    Usage,
    UserMessage,
)

TRIAL = Trial(suite="s", case=Case(name="c", prompt="p", checks=()), model="m", number=1, key="k")
PASSED = CheckResult(kind="k", label="l", verdict="passed")
FAILED = CheckResult(kind="k", label="l", verdict="failed", explanation="no")
UNJUDGED = CheckResult(kind="k", label="l", verdict="not_judged", explanation="the cost is unknown")
WARNING = CheckResult(kind="k", label="l", verdict="failed", severity="warn")
LIMITS: list[Stop] = [
    "reply_limit",
    "call_limit",
    "token_limit",
    "cost_limit",
    "time_limit",
    "max_tokens",
]


def test_a_trial_passes_when_every_check_passes() -> None:
    assert judge_trial(TRIAL, Transcript(), [PASSED, PASSED]).status == "passed"


def test_a_trial_says_when_it_ended_in_utc() -> None:
    before = datetime.now(UTC)
    finished = judge_trial(TRIAL, Transcript(), [PASSED]).finished_at or ""
    assert finished.endswith("Z")
    assert abs(datetime.fromisoformat(finished) - before) < timedelta(minutes=5)


def test_one_failed_check_fails_the_trial() -> None:
    assert judge_trial(TRIAL, Transcript(), [PASSED, FAILED]).status == "failed"


def test_a_warning_changes_no_verdict() -> None:
    assert judge_trial(TRIAL, Transcript(), [PASSED, WARNING]).status == "passed"


def test_what_does_not_say_that_it_passed_has_not_passed() -> None:
    odd = CheckResult(kind="k", label="l", verdict="fail")  # type: ignore[arg-type]
    assert judge_trial(TRIAL, Transcript(), [PASSED, odd]).status == "failed"


def test_a_check_that_cannot_be_judged_makes_an_error_and_never_a_pass() -> None:
    run = judge_trial(TRIAL, Transcript(), [PASSED, UNJUDGED])
    assert run.status == "error"
    assert run.error == TrialError(kind="judge", message="l: the cost is unknown")


def test_an_error_is_never_a_pass_even_if_all_checks_passed() -> None:
    run = judge_trial(
        TRIAL, Transcript(stop="error", error=TrialError(kind="model", message="gone")), [PASSED]
    )
    assert run.status == "error"


@pytest.mark.parametrize("stop", LIMITS)
def test_a_limit_that_was_hit_is_a_failed_check_that_says_so(stop: Stop) -> None:
    run = judge_trial(TRIAL, Transcript(stop=stop, replies=3), [PASSED])
    assert run.status == "failed"
    assert run.checks[-1].kind == "limit"
    assert run.checks[-1].explanation.startswith("Limit reached: ")


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        (Usage(input_tokens=70, output_tokens=50), 120),
        (Usage(input_tokens=70), 70),
        (Usage(output_tokens=50), 50),
        (Usage(), 0),
    ],
)
def test_a_token_limit_is_told_with_the_tokens_of_both_directions(usage: Usage, used: int) -> None:
    trial = replace(
        TRIAL, case=Case(name="c", prompt="p", checks=(), limits=Limits(max_tokens=100))
    )
    check = judge_trial(trial, Transcript(stop="token_limit", usage=usage), [PASSED]).checks[-1]
    assert (check.expected, check.actual) == (100, used)


def test_each_limit_is_told_with_its_bound_and_what_was_reached() -> None:
    limits = Limits(max_replies=4, max_calls=3, max_tokens=2, max_cost_usd=0.5, timeout_s=1.5)
    trial = replace(TRIAL, case=Case(name="c", prompt="p", checks=(), limits=limits))
    ended = Transcript(
        replies=7,
        tool_calls=transcript().tool_calls * 5,
        usage=Usage(input_tokens=8, output_tokens=9, cost_usd=0.75),
        latency_s=1.23456,
    )
    told: dict[Stop, tuple[float | None, float]] = {
        "reply_limit": (4, 7),
        "call_limit": (3, 5),
        "token_limit": (2, 17),
        "cost_limit": (0.5, 0.75),
        "time_limit": (1.5, 1.235),
        "user_limit": (None, 7),
        "max_tokens": (None, 9),
    }
    for stop, expected in told.items():
        check = judge_trial(trial, replace(ended, stop=stop), [PASSED]).checks[-1]
        assert (check.expected, check.actual) == expected, stop


def test_an_interrupted_trial_is_cancelled_and_not_failed() -> None:
    assert judge_trial(TRIAL, Transcript(stop="cancelled"), []).status == "cancelled"


def transcript(
    text: str = "hi", latency: float = 1.0, request_id: str = "1", outcome: str = "ok"
) -> Transcript:
    return Transcript(
        messages=(
            UserMessage(text="q"),
            AssistantMessage(reply=Reply(text=text, usage=Usage(input_tokens=7))),
        ),
        tool_calls=(
            ToolCall(
                tool="t",
                arguments={"a": 1},
                outcome=outcome,  # type: ignore[arg-type]
                reply=1,
                request_id=request_id,
                started_s=latency,
            ),
        ),
        latency_s=latency,
        started_at=str(latency),
    )


def test_equal_behaviour_has_an_equal_digest_whatever_the_times_and_ids() -> None:
    assert events_digest(transcript()) == events_digest(transcript(latency=9.0, request_id="other"))


def test_different_behaviour_has_a_different_digest() -> None:
    digests = {
        events_digest(t)
        for t in (transcript(), transcript(text="ho"), transcript(outcome="denied"))
    }
    assert len(digests) == 3
    assert all(digest.startswith("sha256:") for digest in digests)


@given(
    st.lists(st.sampled_from([PASSED, FAILED, UNJUDGED, WARNING])),
    st.sampled_from([*LIMITS, "answer", "refusal", "cancelled"]),
)
def test_only_a_trial_without_any_reservation_passes(checks: list[CheckResult], stop: Stop) -> None:
    run = judge_trial(TRIAL, Transcript(stop=stop), checks)
    spotless = stop in {"answer", "refusal"} and FAILED not in checks and UNJUDGED not in checks
    assert (run.status == "passed") == spotless
    assert (run.error is not None) == (run.status == "error")


def test_a_failed_teardown_is_told_with_the_first_500_characters_of_its_result() -> None:
    call = ToolCall(tool="drop", arguments={}, outcome="tool_error", reply=0, text="x" * 501)
    good = ToolCall(tool="empty", arguments={}, outcome="ok", reply=0)
    (warning,) = teardown_warnings(Transcript(teardown_calls=(good, call)))
    assert (warning.severity, warning.verdict) == ("warn", "failed")
    assert warning.explanation == f"Teardown failed: drop → tool_error: {'x' * 500}"
