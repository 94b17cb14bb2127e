import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.formats.console import Detail, print_summary
from harness.runlog import RunLog
from harness.types import Transcript, TrialResult, Usage
from tests.often import often
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import a_conversation, a_log, a_run, an_ordinary_log, must_call


def summary(log: RunLog, width: int = 80, detail: Detail = "usual") -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    print_summary(build_report(log), log, console, detail)
    return stream.getvalue()


def named(text: str) -> list[str]:
    statuses = ("failed ", "error ", "cancelled ", "skipped ", "passed ")
    return [line.split()[1].rstrip(":") for line in text.splitlines() if line.startswith(statuses)]


def test_what_passed_stands_first_and_failures_last(tmp_path: Path) -> None:
    found = named(summary(an_ordinary_log(tmp_path)))
    assert found == ["sold", "left_out", "cut", "unjudged", "mistaken", "often"]


def test_every_failure_of_a_dozen_cases_is_on_the_screen_when_the_run_is_over(
    tmp_path: Path,
) -> None:
    runs: list[tuple[TrialResult, Transcript | None]] = [
        (a_run(f"good_{number}"), None) for number in range(9)
    ]
    failed = must_call(
        "get_order", explanation='Expected call not found: get_order({"order_id": "1042"})'
    )
    runs[2:2] = [
        (a_run(f"bad_{number}", "failed", checks=(failed,)), a_conversation())
        for number in range(3)
    ]
    screen = "\n".join(summary(a_log(tmp_path, runs)).splitlines()[-29:])
    assert named(screen) == ["bad_0", "bad_1", "bad_2"]
    assert screen.count("Expected call not found") == 3
    assert "12 planned: 9 passed, 3 failed" in screen


def test_many_passes_are_one_line_and_few_have_one_each(tmp_path: Path) -> None:
    many = summary(a_log(tmp_path, [(a_run(f"good_{number}"), None) for number in range(6)]))
    assert "6 passed: good_0, good_1, good_2, good_3, good_4, good_5\n" in many
    few = summary(a_log(tmp_path / "few", [(a_run(f"good_{number}"), None) for number in range(5)]))
    assert named(few) == [f"good_{number}" for number in range(5)]


def test_verbose_shows_every_case_and_check_and_quiet_what_did_not_pass_in_a_line_each(
    tmp_path: Path,
) -> None:
    checks = tuple(
        must_call(f"tool_{number}", explanation=f"reason {number}") for number in range(3)
    )
    runs = [(a_run(f"good_{number}"), None) for number in range(9)]
    log = a_log(tmp_path, [*runs, (a_run("bad", "failed", checks=checks), a_conversation())])
    verbose = summary(log, detail="verbose")
    assert named(verbose) == [*(f"good_{number}" for number in range(9)), "bad"]
    assert all(f"reason {number}" in verbose for number in range(3))
    assert summary(log, detail="quiet").startswith(
        "failed    bad: reason 0\n10 planned: 9 passed, 1 failed\n"
    )
    assert len(summary(log, detail="quiet").splitlines()) == 3


def test_several_models_are_shown_case_by_case(tmp_path: Path) -> None:
    results = {"one": {"a": "p", "b": "f", "c": "pp"}, "two": {"a": "f", "b": "f", "c": "pf"}}
    log = write_log(tmp_path / "run" / "log.jsonl", {}, models=results)
    lines = summary(log).splitlines()
    at = lines.index("case  one         two")
    assert lines[at + 1 : at + 5] == [
        "a     passed      failed",
        "c     passed 2/2  failed 1/2",
        "b     failed      failed",
        "",
    ]
    assert "2 passed: a [one], c [one]" in summary(log)
    assert "0 skipped" not in summary(log)  # a status that nothing has is not named
    narrow = summary(log, width=20)
    assert narrow.count("\ncase ") == 2


def test_a_failure_shows_one_thing_to_look_at_in_full_and_names_the_rest(tmp_path: Path) -> None:
    checks = tuple(
        must_call(f"tool_{number}", explanation=f"reason {number}") for number in range(9)
    )
    text = summary(a_log(tmp_path, [(a_run("a", "failed", checks=checks), a_conversation())]))
    assert "reason 0" in text
    assert "reason 1" not in text
    assert "✗ must_call tool_5" in text
    assert "must_call tool_6" not in text
    assert "… and 3 more checks" in text


def test_the_end_says_what_was_mistaken_what_took_long_and_how_to_see_more(tmp_path: Path) -> None:
    runs = [
        (a_run("quick", latency_s=0.1, usage=Usage(cost_usd=0.5)), a_conversation()),
        (a_run("slow", latency_s=9.0, usage=Usage(cost_usd=None)), a_conversation()),
        (
            a_run("lost", "failed", checks=(must_call("get_order"),), usage=Usage(cost_usd=2.0)),
            a_conversation("get_orders"),
        ),
    ]
    text = summary(a_log(tmp_path, runs))
    assert "expected → called instead: get_order → get_orders\n" in text
    assert "slowest: slow 9.0 s, lost 1.5 s, quick 100 ms\n" in text
    assert "dearest: lost $2.00, quick $0.50\n" in text
    assert "cost unknown" in text
    assert "harness view 20260101T000000Z-shop-abcdef\n" in text


def test_a_thousand_passes_are_counted_and_a_hundred_failures_named(tmp_path: Path) -> None:
    runs = [(a_run(f"good_{number}"), None) for number in range(900)]
    runs += [
        (a_run(f"bad_{number}", "failed", checks=(must_call("t"),)), None) for number in range(100)
    ]
    text = summary(a_log(tmp_path, runs))
    assert re.search(r"900 passed: good_0, good_1, [^…]*, …\s8\d\d more", text)
    assert text.count("Expected call not found") == 20
    assert "bad_99 " in text
    assert len(text.splitlines()) < 300
    assert text.index("bad_0 ") < text.index("Expected call not found")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    text = summary(an_ordinary_log(tmp_path), width)
    assert max(len(line) for line in text.splitlines()) <= width


SHOW = (
    "import sys; from pathlib import Path; from harness.runlog import read_log; from "
    "harness.cli.results_output import *\n"
    "try: show_results(read_log(Path(sys.argv[1])), ResultsOutput())\n"
    "except BaseException as end: print(type(end).__name__, getattr(end, 'exit_code', end))"
)


@pytest.mark.parametrize(
    "env",
    often(
        [
            {"TERM": "dumb"},
            {"NO_COLOR": "1", "TERM": "xterm-256color"},
            {
                "LC_ALL": "C",
                "PYTHONUTF8": "0",
                "PYTHONCOERCECLOCALE": "0",
                "PYTHONIOENCODING": "ascii",
            },
            {"CI": "true", "GITHUB_ACTIONS": "true"},
        ]
    ),
)
def test_what_is_piped_is_plain_and_neither_wrapped_nor_padded(
    tmp_path: Path, env: dict[str, str]
) -> None:
    log = an_ordinary_log(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", SHOW, str(log.path)],
        env={"PATH": os.environ["PATH"], "COLUMNS": "30"} | env,
        capture_output=True,
        check=True,
        timeout=120,
    )
    text = result.stdout.decode()
    assert "\x1b" not in text
    assert "failed    mistaken" in text
    assert text.endswith("Exit 1\n")
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert max(map(len, text.splitlines())) > 60
