"""A suite's variability from earlier logs, and the assumptions without them."""

from __future__ import annotations

from pathlib import Path

from harness.descriptions.workbench.power_table import (
    DEFAULT_DISCORDANCE,
    DEFAULT_ICC,
    estimate_variability,
)
from tests.reports.run_logs import write_log


def test_without_earlier_runs_the_defaults_are_named_as_assumed() -> None:
    known = estimate_variability("s", ["a"], [])
    assert (known.discordance, known.icc) == (DEFAULT_DISCORDANCE, DEFAULT_ICC)
    assert known.discordance_source.startswith("assumed")
    assert known.icc_source.startswith("assumed")


def test_two_runs_with_the_same_model_give_the_discordance(tmp_path: Path) -> None:
    logs = [
        write_log(tmp_path / "1.jsonl", {"a": "p", "b": "p", "c": "f", "d": "e"}),
        write_log(tmp_path / "2.jsonl", {"a": "p", "b": "f", "c": "f", "d": "p"}),
    ]
    known = estimate_variability("s", "abcd", logs)
    assert known.discordance == 1 / 3  # d was not judged in the first run
    assert known.discordance_source == "measured: 1 pair of earlier runs"
    assert known.icc_source.startswith("assumed")


def test_runs_with_different_models_are_no_pair(tmp_path: Path) -> None:
    logs = [
        write_log(tmp_path / "1.jsonl", {"a": "p"}, model="one"),
        write_log(tmp_path / "2.jsonl", {"a": "f"}, model="other"),
    ]
    assert estimate_variability("s", "a", logs).discordance_source.startswith("assumed")


def test_one_run_with_repeats_gives_icc_and_discordance(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.jsonl", {"a": "ppp", "b": "fff", "c": "ppf"})
    known = estimate_variability("s", "abc", [log])
    assert known.discordance == (0 + 0 + 2 / 3) / 3
    assert 0 < known.icc < 1
    assert known.icc_source == known.discordance_source == "measured: 1 run with repeats"


def test_a_test_of_many_cases_counts_as_one(tmp_path: Path) -> None:
    many = {f"q[{number}]": "pp" for number in range(8)}
    log = write_log(tmp_path / "1.jsonl", {"a": "pf", **many})
    known = estimate_variability("s", [["a"], [*many]], [log])
    once = estimate_variability("s", [["a"], ["q[0]"]], [log])
    assert known == once
    assert known.discordance == 1 / 2
    logs = [log, write_log(tmp_path / "2.jsonl", {"a": "ff", **many})]
    assert estimate_variability("s", [["a"], [*many]], logs).discordance == 1 / 4


def test_cases_and_suites_that_are_not_asked_about_are_left_out(tmp_path: Path) -> None:
    log = write_log(tmp_path / "1.jsonl", {"a": "pp", "gone": "pf"})
    assert estimate_variability("s", "a", [log]).discordance == 0
    assert estimate_variability("other", "a", [log]).discordance_source.startswith("assumed")
