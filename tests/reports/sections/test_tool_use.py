from pathlib import Path

from harness.reports.build import build_report
from harness.reports.sections.tool_use import (
    NO_CALL,
    Confusion,
    ToolUsage,
    find_confusions,
    tool_facts,
)
from tests.reports.sample_logs import a_conversation, a_log, a_run, an_ordinary_log, must_call


def test_tools_are_counted_by_what_became_of_their_calls(tmp_path: Path) -> None:
    trials = [
        (a_run("a"), a_conversation("sell", "sell", offered=("sell", "buy"))),
        (a_run("b"), a_conversation("sell", outcome="denied", offered=("sell", "buy"))),
        (a_run("c"), a_conversation("sell", outcome="timeout", offered=("buy",))),
        (a_run("d"), a_conversation("made_up", outcome="unknown_tool", offered=("buy",))),
    ]
    log = a_log(tmp_path, trials)
    assert tool_facts(build_report(log), log).tools == (
        ToolUsage(tool="buy", offered=4),
        ToolUsage(tool="made_up", called=1, errors=1),
        ToolUsage(tool="sell", offered=2, called=4, errors=1, denied=1),
    )


def test_the_matrix_holds_what_was_called_in_the_place_of_what_was_expected(tmp_path: Path) -> None:
    trials = [
        (a_run("a", checks=(must_call("x", "x"),)), a_conversation("x", "extra")),
        (a_run("b", "failed", checks=(must_call("x", "y"),)), a_conversation("y", "y")),
        (a_run("c", "failed", checks=(must_call("x"),)), a_conversation()),
    ]
    log = a_log(tmp_path, trials)
    assert tool_facts(build_report(log), log).matrix == {
        ("x", NO_CALL): 1,
        ("x", "x"): 1,
        ("x", "y"): 1,
    }


def test_confusions_are_told_by_how_often_they_happened(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    assert find_confusions(build_report(log), log) == [
        Confusion(expected="get_order", called="get_orders", trials=2)
    ]


def test_a_tool_that_is_expected_elsewhere_in_the_case_is_not_called_in_anothers_place(
    tmp_path: Path,
) -> None:
    checks = (must_call("x", "y"), must_call("y", "y"))
    log = a_log(tmp_path, [(a_run("a", "failed", checks=checks), a_conversation("y"))])
    assert find_confusions(build_report(log), log) == [
        Confusion(expected="x", called=NO_CALL, trials=1)
    ]
