"""Every report of a run says the same, byte for byte, whether its results are in memory or not."""

from __future__ import annotations

import io
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.formats.console import print_summary
from harness.reports.querying.index import STORE, keep_store
from harness.reports.writers import WRITERS
from harness.runlog import LogWriter, ReviewLine, RunLog, TrialLine, read_log, reader
from harness.runlog.on_disk.result_storage import ResultBlocks
from harness.types import Review, Usage
from tests.judging.test_golden_logs import GOLDEN
from tests.often import often
from tests.reports.run_logs import a_run, write_log
from tests.reports.sample_logs import a_conversation, a_hostile_log, a_log, an_ordinary_log
from tests.reports.sample_logs import a_run as a_told_run


def with_every_status(folder: Path) -> None:
    an_ordinary_log(folder)


def of_hostile_texts(folder: Path) -> None:
    a_hostile_log(folder, big=False)


def of_several_identities(folder: Path) -> None:
    shutil.copy(GOLDEN / "leaks.jsonl", folder / "log.jsonl")


def of_identities_that_are_not_observed(folder: Path) -> None:
    trials = [
        (
            a_told_run(f"{test} [{name}]", identity=name, group=test, user_context={"role": name}),
            a_conversation("get_order"),
        )
        for test in ("record", "team")
        for name in ("admin", "clerk")
    ]
    assert build_report(a_log(folder, trials)).access.unobserved


def of_two_suites_and_models_in_no_order(folder: Path) -> None:
    suites = {"s": {"x": "pfp", "y": "e", "z": "sc"}, "t": {"x": "ppf"}}
    log = folder / "log.jsonl"
    write_log(log, suites, usage=Usage(input_tokens=3, cost_usd=None))
    header, *trials, footer = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join((header, *trials[::-1], footer)))


def with_cases_that_the_header_does_not_name(folder: Path) -> None:
    log = folder / "log.jsonl"
    write_log(log, {"x": "p"}, planned=9)
    with LogWriter(log) as writer:
        for index in range(3):
            for case in ("new", "newer"):
                writer.append(TrialLine(run=a_run("s", case, "m", index + 1, "pf"[index % 2])))


def of_which_results_are_missing(folder: Path) -> None:
    log = folder / "log.jsonl"
    write_log(log, {"a": "p", "b": "pf"}, planned=9, finished=False)
    log.write_bytes(log.read_bytes().replace(b'"s":{"cases":{', b'"s":{"cases":{"never":"d",'))


def with_trials_that_were_run_again_and_damaged_lines(folder: Path) -> None:
    path = folder / "log.jsonl"
    log = write_log(path, {"a": "fff", "b": "p", "c": "p"}, finished=False)
    again = [replace(one, status="passed", checks=()) for one in log.results[1:3]]
    with LogWriter(path) as writer:
        for one in again:
            writer.append(TrialLine(run=one))
    last = next(line for line in path.read_bytes().splitlines() if b'"case":{"name":"c"' in line)
    with path.open("ab") as file:
        file.write(last.replace(b'"status":', b'"status":,') + b"\n")


def that_people_judged(folder: Path) -> None:
    log = an_ordinary_log(folder)
    with LogWriter(log.path) as writer:
        for one in log.results:
            if one.status in {"passed", "failed"}:
                writer.append(
                    ReviewLine(
                        review=Review(
                            key=one.key,
                            verdict="passed" if one.status == "failed" else "failed",
                            machine=one.status,
                            by="ann",
                            note="",
                            at="2026-01-02T00:00:00Z",
                        )
                    )
                )


LOGS = (
    with_every_status,
    of_hostile_texts,
    of_several_identities,
    of_identities_that_are_not_observed,
    of_two_suites_and_models_in_no_order,
    with_cases_that_the_header_does_not_name,
    of_which_results_are_missing,
    with_trials_that_were_run_again_and_damaged_lines,
    that_people_judged,
)


def told(log: RunLog) -> dict[str, Any]:
    """Return all reports of ``log``."""
    report = build_report(log)
    found: dict[str, Any] = {"summary": report.summary, "counts": report.counts}
    for name in WRITERS.list_names():
        stream = io.StringIO()
        WRITERS.get(name).write(report, log, stream)
        found[name] = stream.getvalue()
    shown = Console(file=io.StringIO(), width=100)
    print_summary(report, log, shown, "verbose")
    found["console"] = shown.file.getvalue()  # type: ignore[attr-defined]
    found["transcripts"] = [one.transcript for one in report.results if one.key in log]
    keep_store(log, report)
    with closing(sqlite3.connect(log.path.with_name(STORE))) as db:
        found["view"] = list(db.iterdump())
    return found


@pytest.mark.parametrize(
    ("make", "by_people"),
    often(
        [
            (that_people_judged, True),
            *((make, False) for make in LOGS),
            *((make, True) for make in LOGS),
        ],
        count=1 + len(LOGS),
    ),
)
def test_reports_do_not_depend_on_where_results_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], by_people: bool
) -> None:
    make(tmp_path)

    def read() -> RunLog:
        log = read_log(tmp_path / "log.jsonl")
        return log.apply_reviews() if by_people else log

    in_memory = told(read())
    monkeypatch.setattr(reader, "MOST_IN_MEMORY", 2)
    log = read()
    assert isinstance(build_report(log).results, ResultBlocks)
    assert told(log) == in_memory
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", STORE]
