"""What came of the calls.

Every summary counts them, and whoever passed without a success is marked.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.judging.trial import judge_trial
from harness.pytest_plugin.failure_text import format_totals
from harness.reports.build import build_report
from harness.reports.formats.html_report.overview import build_overview
from harness.reports.sections.remarks import (
    call_lines,
    calls_words,
    case_mark,
    count_calls,
    format_mark,
)
from harness.reports.viewer.run_summary import build_summary
from harness.runlog import RunLog, TrialLine, read_lines
from harness.types import (
    UNMARKED_FAILURE,
    Case,
    CaseFacts,
    CheckResult,
    Outcome,
    ToolCall,
    ToolList,
    Transcript,
    Trial,
    TrialResult,
    UserMessage,
)
from harness.web.results import encode_result
from tests.reports.formats.test_console import summary as on_the_console
from tests.reports.packs import all_of
from tests.reports.sample_logs import a_conversation, a_log, a_run, written
from tests.support import a_tool_list

pytestmark = pytest.mark.anyio

NEGATIVE = CheckResult(
    kind="must_not_call", label="must_not_call drop", verdict="passed", expected={"not": "drop"}
)


def with_calls(
    *outcomes: Outcome, checks: tuple[CheckResult, ...] = (NEGATIVE,), **more: Any
) -> TrialResult:
    made: dict[str, Any] = {
        "outcomes": Counter(outcomes),
        "offered": 3,
    }
    return a_run("case", checks=checks, **(made | more))


async def judged(
    assertions: dict[str, Any], *outcomes: Outcome, status: int | None = None
) -> TrialResult:
    """Judge a conversation with calls that ended so, by real checks."""
    calls = tuple(
        ToolCall(tool="get", arguments={}, outcome=one, reply=1, text="not allowed")
        for one in outcomes
    )
    checks = tuple(
        check for kind, value in assertions.items() for _, check in VOCABULARY.parse(kind, value)
    )
    case = Case(name="case", prompt="x", checks=checks)
    said = Transcript(
        messages=(UserMessage(text="x"),),
        tool_calls=calls,
        tools=("get",),
        answer="I cannot do that.",
        refused_status=status,
    )
    evidence = Evidence(
        case=case,
        transcript=said,
        tools=a_tool_list("get") if status is None else ToolList(tools=()),
    )
    trial = Trial(suite="s", case=case, model="m", number=1, key="k")
    return judge_trial(trial, said, await evaluate_checks(evidence))


# ── The counts ───────────────────────────────────────────────────────────────────────────────


def test_every_call_is_counted_by_what_came_of_it() -> None:
    runs = [with_calls("tool_error", "timeout", "blocked"), with_calls("denied", "server_lost")]
    counts = count_calls(runs)
    assert calls_words(counts) == "5 calls: 0 ok, 1 denied, 3 errors, 1 not sent"
    assert (counts.total, counts.ok, counts.denied, counts.errors, counts.not_sent) == (
        5,
        0,
        1,
        3,
        1,
    )
    assert calls_words(count_calls([])) == "no tool was called"
    assert calls_words(count_calls([with_calls("ok")])) == "1 call: 1 ok"


def test_calls_are_told_where_any_trial_ran_and_not_where_none_did(tmp_path: Path) -> None:
    skipped = a_run("other", "skipped", stop=None)
    some = build_report(a_log(tmp_path, [(with_calls("ok"), None), (skipped, None)]))
    assert list(call_lines(some)) == ["1 call: 1 ok"]
    none = build_report(a_log(tmp_path / "none", [(skipped, None)]))
    assert list(call_lines(none)) == []


# ── The mark ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ((), "passed, but no call succeeded: none was made"),
        (
            ("tool_error", "tool_error", "timeout"),
            "passed, but no call succeeded: 1 timeout, 2 tool_error",
        ),
        (("blocked",), "passed, but its call was not sent (blocked)"),
        (("blocked", "blocked"), "passed, but its calls were not sent (blocked)"),
        (
            ("blocked", "tool_error"),
            "passed, but no call succeeded: 1 not sent (blocked), 1 tool_error",
        ),
        (("ok", "tool_error"), None),
    ],
)
def test_a_trial_that_passed_without_a_successful_call_is_marked(
    outcomes: tuple[Outcome, ...], words: str
) -> None:
    assert format_mark(with_calls(*outcomes)) == words


def test_a_trial_whose_case_aborts_its_calls_is_not_marked() -> None:
    aborted = replace(with_calls("timeout"), stop="aborted")
    assert format_mark(aborted) is None
    assert format_mark(replace(aborted, stop="answer")) is not None


def test_only_what_passed_and_had_tools_is_marked() -> None:
    assert format_mark(replace(with_calls(), status="failed")) is None
    assert format_mark(replace(with_calls(), status="skipped", stop=None)) is None
    assert format_mark(with_calls(offered=0)) is None


async def test_an_expected_call_that_was_withheld_is_marked_although_others_succeeded() -> None:
    run = await judged({"must_call": ["get"]}, "blocked")
    other = replace(run, outcomes={"ok": 1, "blocked": 1})
    assert format_mark(other) == "passed, but the call of must_call get was not sent (blocked)"
    assert format_mark(await judged({"must_call": ["get"]}, "ok", "blocked")) is None


@pytest.mark.parametrize(
    ("assertions", "outcomes"),
    [
        ({"must_be_denied": ["get"]}, ("denied",)),
        ({"must_error": ["get"]}, ("tool_error",)),
        ({"decision": {"is": "denied", "tool": "get"}}, ("denied",)),
        ({"decision": {"is": ["not_attempted", "denied"], "tool": "get"}}, ()),
        ({"decision": {"is": "hidden", "tool": "other"}}, ()),
        ({"max_calls": 0}, ()),
        ({"only_call": []}, ()),
        ({"refuses": True}, ()),
        ({"any_of": [{"must_be_denied": ["get"]}, {"must_call": ["other"]}]}, ("denied",)),
        ({"any_of": [{"decision": "denied"}, {"must_succeed": ["get"]}]}, ("denied",)),
        ({"all_of": [{"max_calls": 0}, {"must_not_call": ["get"]}]}, ()),
        ({"tool_result_not_contains": ["secret"]}, ("denied", "denied")),
        ({"graded": {"expected": []}}, ()),
    ],
)
async def test_who_was_asked_for_refusals_or_for_no_call_is_not_marked(
    assertions: dict[str, Any], outcomes: tuple[Outcome, ...]
) -> None:
    run = await judged(assertions, *outcomes)
    assert run.status == "passed"
    assert format_mark(run) is None


@pytest.mark.parametrize(
    ("assertions", "outcomes"),
    [
        ({"must_not_call": ["other"]}, ()),
        ({"must_call": ["get"]}, ("tool_error",)),
        ({"answer_contains": "cannot"}, ("invalid_arguments",)),
        ({"tool_result_not_contains": ["secret"]}, ("tool_error",)),
        ({"decision": ["allowed", "denied"]}, ("denied",)),
        ({"max_calls": {"limit": 0, "tool": "other"}}, ("tool_error",)),
        ({"refuses": {"expected": True, "severity": "warn"}}, ()),
        ({"any_of": [{"must_be_denied": ["get"]}, {"must_call": ["get"]}]}, ("tool_error",)),
    ],
)
async def test_who_was_asked_for_anything_else_is_marked(
    assertions: dict[str, Any], outcomes: tuple[Outcome, ...]
) -> None:
    run = await judged(assertions, *outcomes)
    assert run.status == "passed"
    assert format_mark(run) is not None


def test_of_several_trials_it_is_said_how_many_are_marked(tmp_path: Path) -> None:
    trials = [with_calls("ok"), with_calls(), with_calls()]
    runs = [replace(run, trial=n, key=str(n), repeats=3) for n, run in enumerate(trials, start=1)]
    (case,) = build_report(a_log(tmp_path, [(run, None) for run in runs])).cases
    assert case_mark(case) == "passed, but no call succeeded: none was made (2 of 3 passed trials)"


# ── Every report ─────────────────────────────────────────────────────────────────────────────

WORDS = "passed, but no call succeeded: 1 tool_error"
COUNTS = "1 call: 0 ok, 1 error"


def failed_conversation() -> Transcript:
    return a_conversation("get", answer="done", outcome="tool_error")


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    return a_log(tmp_path, [(with_calls("tool_error"), failed_conversation())])


def test_the_console_counts_and_marks(log: RunLog) -> None:
    text = " ".join(on_the_console(log).split())
    assert COUNTS in text
    assert WORDS in text


def test_a_quiet_console_counts_and_marks_too(log: RunLog) -> None:
    assert on_the_console(log, detail="quiet").splitlines() == [
        f"passed    case: ! {WORDS}",
        "1 planned: 1 passed",
        COUNTS,
        "1 case passed although no call succeeded, or the expected one was not sent",
    ]


def test_what_is_marked_is_not_lost_among_many_that_passed(tmp_path: Path) -> None:
    good = [
        replace(with_calls("ok"), case=CaseFacts(name=f"case {n:02}"), key=str(n))
        for n in range(50)
    ]
    log = a_log(tmp_path, [(run, None) for run in (*good, with_calls("tool_error"))])
    assert WORDS in " ".join(on_the_console(log).split())


@pytest.mark.parametrize("name", ["json", "jsonl", "csv", "markdown", "github", "junit", "html"])
def test_every_written_report_marks(log: RunLog, name: str) -> None:
    assert WORDS in all_of(written(log, name))


def test_every_format_that_adds_up_counts(log: RunLog) -> None:
    document = json.loads(written(log, "json"))["result"]
    counts = {
        "total": 1,
        "ok": 0,
        "denied": 0,
        "errors": 1,
        "not_sent": 0,
        "outcomes": {"tool_error": 1},
    }
    assert document["summary"]["calls"] == counts
    properties = ET.fromstring(written(log, "junit")).iter("property")
    assert COUNTS in {one.get("value") for one in properties}
    assert COUNTS in written(log, "markdown")
    assert COUNTS in build_overview(build_report(log), log)["repeats"]
    assert COUNTS in list(format_totals(build_report(log)))
    assert build_summary(log, build_report(log))["calls"] == counts


def test_the_table_of_a_notebook_counts_and_marks(log: RunLog) -> None:
    shown = build_report(log)._repr_html_()
    assert COUNTS in shown
    assert WORDS in shown


def test_the_end_of_a_pytest_session_counts_and_marks(log: RunLog) -> None:
    told = list(format_totals(build_report(log)))
    assert COUNTS in told
    assert f"case: {WORDS}" in told


def test_the_page_of_a_live_run_marks(log: RunLog) -> None:
    (line,) = [line for _, _, line in read_lines(log.path) if isinstance(line, TrialLine)]
    assert encode_result(line)["problem"] == WORDS


@pytest.mark.parametrize(
    ("texts", "mark"),
    [
        (
            ["Order 7 does not exist."],
            "passed, but every call that succeeded reads like a failure: Order 7 does not exist.",
        ),
        (["Order 7 does not exist.", "Order 8 is open."], None),
        (["Order 8 is open."], None),
    ],
)
def test_a_pass_whose_results_all_read_like_failures_is_marked(
    tmp_path: Path, texts: list[str], mark: str | None
) -> None:
    calls = tuple(
        ToolCall(tool="get", arguments={}, outcome="ok", reply=1, text=text) for text in texts
    )
    said = Transcript(
        messages=(UserMessage(text="x"),),
        tool_calls=calls,
        tools=("get",),
        answer="It is done.",
    )
    trial = Trial(
        suite="s", case=Case(name="c", prompt="x", checks=()), model="m", number=1, key="k"
    )
    result = judge_trial(trial, said, ())
    assert format_mark(result) == mark
    told = [check for check in result.checks if check.kind == UNMARKED_FAILURE]
    assert [check.actual for check in told] == [
        [{"tool": "get", "words": text}] for text in texts[:1] if "not" in text
    ]
    lines = list(call_lines(build_report(a_log(tmp_path, [(result, said)]))))
    assert (
        "1 case passed although every call that succeeded reads like a failure" in lines
    ) == bool(mark)
