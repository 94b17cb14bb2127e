import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.console import print_summary
from harness.runlog import RunLog
from harness.types import Usage
from tests.reports.sample_logs import a_conversation, a_log, a_run, an_ordinary_log, must_call


def summary(log: RunLog, width: int = 80) -> str:
    stream = io.StringIO()
    print_summary(build_report(log), log, Console(file=stream, width=width, highlight=False, markup=False, emoji=False))
    return stream.getvalue()


def test_failures_stand_first_and_what_passed_last(tmp_path: Path) -> None:
    lines = summary(an_ordinary_log(tmp_path)).splitlines()
    statuses = ("failed ", "error ", "cancelled ", "skipped ", "passed ")
    found = [line.split()[1] for line in lines if line.startswith(statuses)]
    assert found == ["mistaken", "often", "unjudged", "cut", "left_out", "sold"]


def test_a_failure_shows_one_thing_to_look_at_in_full_and_names_the_rest(tmp_path: Path) -> None:
    checks = tuple(must_call(f"tool_{number}", explanation=f"reason {number}") for number in range(9))
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
    runs += [(a_run(f"bad_{number}", "failed", checks=(must_call("t"),)), None) for number in range(100)]
    text = summary(a_log(tmp_path, runs))
    assert "… and 870 more, passed or skipped" in text
    assert text.count("Expected call not found") == 20
    assert "bad_99 " in text
    assert len(text.splitlines()) < 300


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, width: int) -> None:
    text = summary(an_ordinary_log(tmp_path), width)
    assert max(len(line) for line in text.splitlines()) <= width


SHOW = (
    "import sys; from pathlib import Path; from harness.runlog import read_log; from harness.cli.output import *\n"
    "try: show(read_log(Path(sys.argv[1])), Output())\n"
    "except BaseException as end: print(type(end).__name__, getattr(end, 'exit_code', end))"
)


@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "dumb"},
        {"NO_COLOR": "1", "TERM": "xterm-256color"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        {"CI": "true", "GITHUB_ACTIONS": "true"},
    ],
)
def test_every_terminal_gets_plain_lines_of_80_columns(tmp_path: Path, env: dict[str, str]) -> None:
    log = an_ordinary_log(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", SHOW, str(log.path)],
        env={"PATH": os.environ["PATH"]} | env,
        capture_output=True,
        check=True,
        timeout=120,
    )
    text = result.stdout.decode()
    assert "\x1b" not in text
    assert "failed    mistaken" in text
    assert text.endswith("Exit 1\n")
    log_line = max(text.splitlines(), key=len)
    assert len(log_line) <= 80 or str(tmp_path) in log_line
