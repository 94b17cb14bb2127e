from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import harness
from harness.base.errors import HarnessError, InvalidValue
from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kinds.python_code import PYTHON, PythonKind
from harness.judging.checks.python_run import PythonRun, UserCheck
from harness.judging.checks.registry import KINDS
from harness.types import (
    AssistantMessage,
    Check,
    CheckResult,
    Location,
    Reply,
    Stop,
    ToolAnswer,
    ToolMessage,
    ToolRequest,
    Usage,
    UserMessage,
)
from tests.judging.checks.scenes import call, scene

CASE = SimpleNamespace(id="a", input="What?", expected="Paris")
AT = Location(file="bench.py", line=7)
SCENE = scene(call("look", {"x": 1}, text='{"y": 2}', structured={"y": 2}), answer="It is Paris.")


def a_check(function: Callable[..., Any], threshold: float = 0.7) -> Check:
    code = UserCheck(suite="capitals", function=function, case=CASE, threshold=threshold)
    return Check(kind="python", params={"suite": "m:S", "case": "a"}, at=AT, code=code)


def judged(
    function: Callable[..., Any], evidence: Any = SCENE, threshold: float = 0.7
) -> CheckResult:
    whole = replace(evidence, case=replace(evidence.case, checks=(a_check(function, threshold),)))
    (result,) = anyio.run(evaluate_checks, whole)
    return result


def refused(function: Callable[..., Any]) -> str:
    with pytest.raises(HarnessError) as caught:
        judged(function)
    return str(caught.value)


# ── Verdicts ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("returned", [True, (True, ""), 0.7, 1, 1.0])
def test_true_and_a_good_score_pass_and_say_nothing(returned: Any) -> None:
    result = judged(lambda case, run: returned)
    assert (result.verdict, result.explanation, result.hint) == ("passed", "", None)


def test_false_fails_and_shows_expectation_and_answer() -> None:
    result = judged(lambda case, run: False)
    assert (result.verdict, result.kind, result.label) == (
        "failed",
        "python",
        "python check of capitals",
    )
    assert (result.expected, result.actual, result.at) == ("Paris", "It is Paris.", AT)
    assert result.explanation == "The suite's check returned False."
    assert result.hint


def test_a_text_beside_the_verdict_is_the_explanation() -> None:
    assert judged(lambda case, run: (False, "too short")).explanation == "too short"
    assert judged(lambda case, run: (True, "just so")).explanation == "just so"


def test_a_score_passes_from_the_threshold_on_and_is_kept() -> None:
    result = judged(lambda case, run: 0.5)
    assert (result.verdict, result.score) == ("failed", 0.5)
    assert result.explanation == "The score is 0.5, at least 0.7 expected."
    assert judged(lambda case, run: 0.5, threshold=0.5).verdict == "passed"
    graded = judged(lambda case, run: (0.2, "half of it is missing"))
    assert (graded.verdict, graded.score, graded.explanation) == (
        "failed",
        0.2,
        "half of it is missing",
    )


def test_a_check_may_return_a_result_of_its_own() -> None:
    own = CheckResult(
        kind="mine", label="capital named", verdict="failed", expected={1, 2}, explanation="no"
    )
    result = judged(lambda case, run: own)
    assert (result.kind, result.label, result.verdict, result.at) == (
        "python",
        "capital named",
        "failed",
        AT,
    )
    assert result.expected is None  # a set is no JSON, and a log holds nothing else


def test_an_assertion_that_does_not_hold_fails_with_its_message() -> None:
    def check(case: Any, run: PythonRun) -> None:
        assert run.answer == "Rome", "expected Rome"

    result = judged(check)
    assert result.verdict == "failed"
    assert result.explanation.startswith("expected Rome")
    assert "test_python_code.py:" in result.explanation


def test_an_assertion_without_a_message_shows_its_line() -> None:
    def check(case: Any, run: PythonRun) -> None:
        if run.answer != "Rome":
            raise AssertionError

    assert judged(check).explanation.startswith("raise AssertionError (")


def test_a_coroutine_function_is_a_check() -> None:
    async def check(case: Any, run: PythonRun) -> bool:
        await anyio.lowlevel.checkpoint()
        return bool(case.expected in run.answer)

    assert judged(check).verdict == "passed"


def test_what_is_awaitable_is_awaited_whoever_returns_it() -> None:
    async def later() -> tuple[bool, str]:
        return False, "not now"

    assert judged(lambda case, run: later()).explanation == "not now"


def test_a_check_that_asserts_needs_no_return() -> None:
    def check(case: Any, run: PythonRun) -> None:
        assert case.expected in run.answer

    result = judged(check)
    assert (result.verdict, result.explanation) == ("passed", "")


# ── What is no verdict is never a pass ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyError("x"), TimeoutError("mine"), SystemExit(0)]
)
def test_whatever_else_a_check_raises_is_an_error_with_its_line(error: BaseException) -> None:
    def check(case: Any, run: PythonRun) -> bool:
        raise error

    told = refused(check)
    assert "check of suite capitals raised an error: " in told
    assert f"{type(error).__name__}" in told
    assert "test_python_code.py:" in told


def test_a_check_that_forgets_to_return_is_an_error_and_no_pass() -> None:
    def check(case: Any, run: PythonRun) -> None:
        _ = run.answer == "Rome"

    assert "returned nothing and asserts nothing, which is no verdict; return True" in refused(
        check
    )
    assert "which is no verdict" in refused(lambda case, run: (None, "why"))


def test_an_error_in_a_coroutine_is_told_the_same_way() -> None:
    async def check(case: Any, run: PythonRun) -> bool:
        raise LookupError("gone")

    assert "LookupError: gone" in refused(check)


@pytest.mark.parametrize(
    "returned", ["yes", 1.5, -0.1, float("nan"), 7, [], (True,), (True, 3), object()]
)
def test_what_is_no_verdict_is_an_error(returned: Any) -> None:
    assert "which is no verdict" in refused(lambda case, run: returned)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"verdict": "fail"},
            "verdict 'fail', which is no verdict; it is one of passed, failed, not_judged",
        ),
        ({"severity": "error"}, "severity 'error', which is no severity; it is one of fail, warn"),
        ({"score": float("nan")}, "score nan, which is no score; it is a number from 0 to 1"),
        ({"score": "high"}, "score 'high', which is no score"),
        ({"score": 1.01}, "score 1.01, which is no score"),
        ({"score": -0.01}, "score -0.01, which is no score"),
    ],
)
def test_a_result_that_no_log_could_be_read_back_with_is_an_error(
    changes: dict[str, Any], said: str
) -> None:
    own = replace(CheckResult(kind="mine", label="x", verdict="passed"), **changes)
    assert f"check python ({AT}) returned a result with {said}" in refused(lambda case, run: own)


def test_a_check_that_never_returns_is_given_up_and_holds_up_nobody() -> None:
    forever = threading.Event()
    before = set(threading.enumerate())
    check = a_check(lambda case, run: forever.wait())
    with pytest.raises(HarnessError, match=r"gave no verdict within 0\.1 s"):
        anyio.run(PythonKind(timeout_s=0.1).evaluate, check, SCENE)
    (thread,) = set(threading.enumerate()) - before
    assert thread.daemon
    forever.set()
    thread.join(60)


def test_a_check_that_blocks_does_not_stop_the_others() -> None:
    meeting = threading.Barrier(2, timeout=60)

    async def both() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(
                    PYTHON.evaluate, a_check(lambda case, run: meeting.wait() >= 0), SCENE
                )

    anyio.run(both)


@pytest.mark.slow
def test_a_coroutine_that_blocks_is_given_up_and_stops_none_that_follow() -> None:
    async def block(case: Any, run: Any) -> bool:
        time.sleep(30)  # noqa: ASYNC251 - as a suite's code may do
        return True

    async def answer(case: Any, run: Any) -> bool:
        return True

    with pytest.raises(HarnessError, match=r"gave no verdict within 0\.1 s"):
        anyio.run(PythonKind(timeout_s=0.1).evaluate, a_check(block), SCENE)
    began = time.monotonic()
    assert judged(answer).verdict == "passed"
    assert time.monotonic() - began < 20


def test_no_file_can_ask_for_it() -> None:
    assert "python" not in VOCABULARY.names()
    assert "python" not in KINDS
    with pytest.raises(InvalidValue):
        PYTHON.parse("os:system")


# ── What a check sees ────────────────────────────────────────────────────────────────────────


def shown(evidence: Any) -> PythonRun:
    seen: list[PythonRun] = []

    def check(case: Any, run: PythonRun) -> bool:
        seen.append(run)
        return True

    judged(check, evidence)
    return seen[0]


def test_a_check_sees_answer_calls_and_what_they_took() -> None:
    run = shown(
        scene(
            call("look", {"x": 1}, text='{"y": 2}', structured={"y": 2}),
            call("write", outcome="denied", text="no", reply=2),
            answer="Paris",
            usage=Usage(input_tokens=5, output_tokens=6, cost_usd=0.1),
            latency_s=1.2503456,
        )
    )
    assert (run.answer, run.output, run.error) == ("Paris", "Paris", None)
    assert (run.tokens_in, run.tokens_out, run.cost_usd, run.latency_ms) == (5, 6, 0.1, 1250.346)
    assert run.tools_called == ("look", "write")
    first, second = run.tool_calls
    assert (first.name, first.arguments, first.outcome, first.result, first.reply) == (
        "look",
        {"x": 1},
        "ok",
        {"y": 2},
        1,
    )
    assert (second.outcome, second.result, second.reply) == ("denied", "no", 2)


def test_a_check_sees_the_conversation_in_plain_messages() -> None:
    request = ToolRequest(id="1", tool="look", arguments={"x": 1})
    run = shown(
        scene(
            messages=(
                UserMessage(text="What?"),
                AssistantMessage(reply=Reply(text="Let me see.", tool_requests=(request,))),
                ToolMessage(answers=(ToolAnswer(request_id="1", text="2"),)),
                AssistantMessage(reply=Reply(text="It is 2.")),
            )
        )
    )
    assert run.messages == (
        {"role": "user", "content": "What?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [{"name": "look", "arguments": {"x": 1}}],
        },
        {"role": "tool", "content": "2"},
        {"role": "assistant", "content": "It is 2."},
    )


@pytest.mark.parametrize("stop", ["time_limit", "aborted", "reply_limit"])
def test_a_check_is_told_when_the_conversation_was_cut_short(stop: Stop) -> None:
    assert shown(scene(stop=stop)).error == stop


def test_the_public_run_is_the_one_that_checks_see() -> None:
    assert harness.PythonRun is PythonRun
