"""The live display on a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from harness.cli.progress import LiveProgress, PlainProgress, live_bar
from harness.types import DECIDED, Case, CaseFacts, CheckResult, Trial, TrialResult


def shown(console: Console) -> str:
    file = console.file
    assert isinstance(file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())


def run(trial: int, status: str, text: str = "") -> TrialResult:
    checks = (
        (CheckResult(kind="k", label="must_call x", verdict="failed", explanation=text),)
        if text
        else ()
    )
    return TrialResult(
        key=str(trial),
        suite="shop",
        case=CaseFacts(name="a_case_with_quite_a_long_name_indeed"),
        model="m",
        trial=trial,
        status=status,  # type: ignore[arg-type]
        checks=checks,
        repeats=26,
    )


def test_the_bar_counts_trials_and_keeps_its_room_on_a_terminal_of_80_columns() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with live_bar(console) as bar:
        live = LiveProgress(bar)
        live.on_planned(26)
        for number in range(1, 4):
            case = Case(
                name=f"a_case_with_quite_a_long_name_indeed_{number}", prompt="?", checks=()
            )
            live.on_started(
                Trial(suite="shop", case=case, model="m", number=number, key=str(number))
            )
        live.on_finished(run(1, "passed"))
        live.on_finished(run(2, "failed", "Expected call not found: x()\nMore of it."))
        bar.refresh()
        text = shown(console)
    assert " 2/26 trials" in text
    assert "1 of them not passed" in text
    told = [
        line.rstrip() for line in text.replace("\r", "\n").splitlines() if line.startswith("failed")
    ]
    assert told[0].startswith(
        "failed    shop::a_case_with_quite_a_long_name_indeed (2 of 26): Expected call"
    )


def test_what_was_skipped_or_cut_off_is_not_counted_as_done() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with live_bar(console) as bar:
        live = LiveProgress(bar)
        live.on_planned(8)
        for trial, status in enumerate(["passed", "failed", "error", "cancelled", "skipped"], 1):
            live.on_finished(run(trial, status))
        live.on_finished(replace(run(6, "skipped"), skip_reason=DECIDED))
        bar.refresh()
        text = shown(console)
    assert " 3/7 trials" in text
    assert "2 not run" in text
    assert " 4/" not in text


def test_plain_lines_count_what_was_run(capsys: pytest.CaptureFixture[str]) -> None:
    plain = PlainProgress()
    plain.on_planned(4)
    plain.on_finished(run(1, "passed"))
    plain.on_finished(replace(run(2, "skipped"), skip_reason=DECIDED))
    plain.on_finished(run(3, "skipped"))
    plain.on_finished(run(4, "error"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" shop::")[0] for line in lines] == [
        "[1/4] passed",
        "[1/3] skipped",
        "[2/3] error",
    ]


def test_a_trial_whose_status_takes_other_identities_waits_and_is_counted_once() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with live_bar(console) as bar:
        live = LiveProgress(bar)
        live.on_planned(2)
        live.on_waiting(run(1, "passed"))
        bar.refresh()
        assert "1 wait for other identities" in shown(console)
        live.on_finished(run(2, "passed"))
        live.on_finished(run(1, "failed", "Leak: mail"))
        bar.refresh()
        text = shown(console)
    assert " 2/2 trials" in text
    assert "1 of them not passed" in text
    assert text.count("Leak: mail") == 1


def test_plain_lines_number_each_settled_trial_and_count_the_waiting_ones_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = PlainProgress()
    plain.on_planned(3)
    plain.on_waiting(run(1, "passed"))
    plain.on_waiting(run(3, "passed"))
    plain.on_finished(run(2, "passed"))
    plain.on_finished(run(1, "failed", "Leak: mail"))
    plain.on_finished(run(3, "passed"))
    lines = capsys.readouterr().err.splitlines()
    name = "shop::a_case_with_quite_a_long_name_indeed"
    assert lines == [
        f"[0/3, 1 waiting for the other identities] {name} (1 of 26)",
        f"[0/3, 2 waiting for the other identities] {name} (3 of 26)",
        f"[1/3] passed {name} (2 of 26)",
        f"[2/3] failed {name} (1 of 26): Leak: mail",
        f"[3/3] passed {name} (3 of 26)",
    ]


def test_a_line_names_the_subject_where_there_are_several(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = PlainProgress()
    plain.on_subjects(["a", "b"])
    plain.on_planned(1)
    plain.on_finished(replace(run(1, "failed"), model="b"))
    assert " [b] " in capsys.readouterr().err
