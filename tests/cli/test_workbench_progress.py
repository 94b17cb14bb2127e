"""The progress of a workbench: a bar on a terminal, a line for each list anywhere else."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from harness.cli.progress import live_bar
from harness.cli.workbench_output import ListLines, LiveLists
from harness.types import TrialError
from tests.cli.test_progress import shown
from tests.descriptions.workbench.test_stage_progress import of, trial


def test_a_terminal_shows_what_is_known_of_the_list_under_way() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with live_bar(console) as bar:
        live = LiveLists(bar, of(2), [trial("m", 0, "passed"), trial("m", 1, "passed")])
        live.on_planned(3)
        live.on_finished(trial("m+without find", 0, "failed"))
        bar.refresh()
        text = shown(console)
        assert "[ablation 0/2] without find: −100 points so far (1 of 2 cases)" in text
        assert "failed" not in text, "trials of a changed list fail by design"
        live.on_finished(trial("m+without find", 1, "failed"))
        live.on_finished(trial("m+x", 0, "passed"))
        bar.refresh()
        text = shown(console)
    assert " 3/3 trials" in text
    assert "[ablation 1/2] without find: −100 points (2 of 2 cases)" in text


def test_a_pipe_gets_a_line_for_each_list_and_the_first_errors_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = ListLines(of(6))
    why = TrialError(kind="model", message="no such key")
    for case in range(6):
        plain.on_finished(replace(trial("m", case, "error"), error=why))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("[")[0] for line in lines] == [
        *(f"error s::case {case} " for case in range(3)),
        "Further errors are counted, and named at the end.",
        "",
    ]
    assert "no such key" in lines[0]
    assert lines[-1].startswith("[clean 1/1] the server's own list: nothing passed (0 of 6 cases")
