from pathlib import Path

from harness.reports.build import PastRun, UnreadableLog, format_run_cells, past_runs
from harness.types import Usage
from tests.reports.run_logs import write_log


def test_a_run_is_listed_by_what_its_log_says(tmp_path: Path) -> None:
    usage = Usage(cost_usd=0.25)
    log = write_log(
        tmp_path / "one" / "log.jsonl", {"s": {"a": "p", "b": "f"}, "t": {"c": "e"}}, usage=usage
    )
    (run,) = past_runs([log.path])
    assert isinstance(run, PastRun)
    assert (run.suites, run.models, run.exit_code, run.cost_usd) == (("s", "t"), ("m",), 1, 0.75)
    assert format_run_cells(run) == (
        "2026-01-01 00:00",
        "s +1",
        "m",
        "1 passed, 1 failed, 1 error",
        "$0.75",
        "one",
    )


def test_an_interrupted_run_says_so_and_counts_what_is_missing(tmp_path: Path) -> None:
    log = write_log(tmp_path / "one" / "log.jsonl", {"a": "p"}, planned=3, finished=False)
    (run,) = past_runs([log.path])
    assert format_run_cells(run)[3] == "1 passed, 2 cancelled (interrupted)"


def test_an_unknown_cost_stays_unknown(tmp_path: Path) -> None:
    log = write_log(tmp_path / "one" / "log.jsonl", {"a": "p"}, usage=Usage(cost_usd=None))
    (run,) = past_runs([log.path])
    assert format_run_cells(run)[4] == "unknown"


def test_a_damaged_log_is_listed_and_hides_no_other(tmp_path: Path) -> None:
    damaged = tmp_path / "bad" / "log.jsonl"
    damaged.parent.mkdir()
    damaged.write_text("no log\n")
    good = write_log(tmp_path / "good" / "log.jsonl", {"a": "p"})
    first, second = past_runs([damaged, good.path])
    assert isinstance(first, UnreadableLog)
    assert format_run_cells(first) == ("", "", "", "unreadable", "", "bad")
    assert isinstance(second, PastRun)
