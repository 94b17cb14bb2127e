"""The server's own error texts: which of them bring a model back, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.reports.build import build_report
from harness.reports.sections.error_texts import ErrorText, error_text_lines, find_error_texts
from harness.types import REWORDED, Injection, Outcome, ToolCall, Transcript
from tests.reports.sample_logs import Trial, a_log, a_run


def call(outcome: Outcome, text: str = "fine", tool: str = "find", **facts: object) -> ToolCall:
    return ToolCall(tool=tool, arguments={}, outcome=outcome, reply=1, text=text, **facts)  # type: ignore[arg-type]


def trial(case: str, status: str, calls: Sequence[ToolCall]) -> Trial:
    numbered = tuple(
        ToolCall(
            tool=one.tool,
            arguments=one.arguments,
            outcome=one.outcome,
            reply=reply,
            text=one.text,
            injected=one.injected,
        )
        for reply, one in enumerate(calls, start=1)
    )
    return a_run(case, status), Transcript(tool_calls=numbered, answer="x")  # type: ignore[arg-type]


def test_texts_are_counted_by_what_followed_and_the_worst_comes_first(tmp_path: Path) -> None:
    never, again = call("tool_error", "E17 for 'Ada'"), call("tool_error", "E17 for 'Eve'")
    hint = call("tool_error", "Order A1 is unknown: search first.")
    log = a_log(
        tmp_path,
        [
            trial("a", "failed", [never, never]),
            trial("b", "failed", [again]),
            trial("c", "passed", [hint, call("ok")]),
            # It was told to the user, as the case wanted: the text was not in the way.
            trial("d", "passed", [call("tool_error", "Order A77 is unknown: search first.")]),
            # Neither a refusal, nor silence, nor what a fault said is the server's text.
            trial("e", "failed", [call("denied", "admins only"), call("timeout", "no answer")]),
        ],
    )
    worst, best = find_error_texts(build_report(log), log)
    assert worst == ErrorText(
        tool="find",
        variant=None,
        text="E17 for 'Ada'",
        shown=3,
        recovered=0,
        blind_retries=0,
        passed=0,
    )
    assert (worst.lost_count, best.lost_count) == (3, 0)
    assert (best.shown, best.recovered, best.passed) == (2, 1, 1)
    lines = list(error_text_lines(build_report(log), log, 200))
    assert lines[1].split() == ["find", "3", "3", "0", "0", "“E17", "for", "'Ada'”"]
    assert lines[-1].endswith("tools: {find: {errors: {'part of the text': 'the new text'}}}")


def test_an_equal_call_after_an_error_that_will_not_help_is_blind(tmp_path: Path) -> None:
    gone = call("tool_error", "not found")
    log = a_log(tmp_path, [trial("a", "failed", [gone, gone, gone])])
    (text,) = find_error_texts(build_report(log), log)
    assert (text.shown, text.blind_retries) == (3, 2)


def test_a_text_is_that_which_the_model_saw_under_its_variant(tmp_path: Path) -> None:
    shown = Injection(fault=REWORDED, rule="variant v", text="Write it in capitals.", is_error=True)
    fault = Injection(fault="error", rule="find: error", text="broken", is_error=True)
    calls = [call("tool_error", "E17", injected=shown), call("tool_error", "E17", injected=fault)]
    log = a_log(tmp_path, [trial("a", "failed", [*calls, call("ok")])])
    (text,) = find_error_texts(build_report(log), log)
    assert (text.text, text.shown, text.recovered) == ("Write it in capitals.", 1, 1)
    assert list(error_text_lines(build_report(log), log, 200)) == []
