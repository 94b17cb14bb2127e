"""A comparison says the same from indexes as from logs."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.judging.trial import written_call_warnings
from harness.reports.comparing.comparison_types import Comparison
from harness.reports.comparing.console import print_comparison
from harness.reports.comparing.contrasts import ComparedRun, compare_logs, compare_runs
from harness.reports.comparing.json_form import write_comparison_json
from harness.reports.comparing.markup import write_comparison_markdown
from harness.reports.comparing.page import write_comparison_html
from harness.reports.comparing.page.cases import Opener, judged_run
from harness.reports.querying import index
from harness.reports.querying.compared_runs import compared_run, indexed_run, open_shown_run
from harness.runlog import LogWriter, RunLog, ToolsLine, read_log
from harness.types import AssistantMessage, Reply, ToolList, Transcript, Usage
from tests.judging.test_golden_logs import GOLDEN
from tests.often import often
from tests.reports.logs import a_transcript
from tests.reports.querying.varied_logs import varied_log
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import a_log, a_run, an_ordinary_log

USED = Usage(input_tokens=9, output_tokens=3, cache_read_tokens=4, cost_usd=0.1)


@pytest.fixture(autouse=True)
def _every_log_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "WORTH_INDEXING", 0)


def told(comparison: Comparison, opener: Opener) -> dict[str, str]:
    writers: dict[str, Any] = {
        "json": write_comparison_json,
        "markdown": write_comparison_markdown,
        "html": partial(write_comparison_html, opener=opener),
        "console": lambda found, stream: print_comparison(found, Console(file=stream, width=200)),
    }
    found = {}
    for name, write in writers.items():
        stream = io.StringIO()
        write(comparison, stream)
        found[name] = stream.getvalue()
    return found


def by_index(logs: Sequence[Path], *, by_people: bool = False) -> Comparison:
    with ExitStack() as stack:
        runs = [stack.enter_context(compared_run(log, by_people=by_people))[0] for log in logs]
        return compare_runs(runs)


def two_runs(folder: Path) -> list[RunLog]:
    tools = (ToolList(tools=(), digest="a"), ToolList(tools=(), digest="b"))
    before = {"x": "ppf", "y": "pfe", "z": "sc", "only": "p"}
    after = {"x": "ppp", "y": "ffp", "z": "pp", "new": "f"}
    return [
        write_log(folder / "a" / "log.jsonl", before, usage=USED, tools=tools[:1]),
        write_log(
            folder / "b" / "log.jsonl", after, usage=USED, tools=tools, finished=False, planned=14
        ),
    ]


def models_of_one(folder: Path) -> list[RunLog]:
    models = {"m": {"x": "pfp", "y": "p"}, "n": {"x": "ppp", "y": "f"}}
    return [write_log(folder / "log.jsonl", {}, models=models, usage=Usage(cost_usd=None))]


def a_run_and_itself(folder: Path) -> list[RunLog]:
    return [an_ordinary_log(folder)] * 2


def with_a_leak(folder: Path) -> list[RunLog]:
    log = folder / "log.jsonl"
    log.write_bytes((GOLDEN / "leaks.jsonl").read_bytes())
    return [read_log(log)] * 2


def with_calls_as_text(folder: Path) -> list[RunLog]:
    reply = AssistantMessage(reply=Reply(written_call="get_order"))
    checks = written_call_warnings(Transcript(messages=(reply,)))
    trials = [
        (a_run("case", "failed", trial=1, checks=checks), a_transcript()),
        (a_run("case", "passed", trial=2), a_transcript()),
    ]
    return [a_log(folder, trials)] * 2


def in_another_order(folder: Path) -> list[RunLog]:
    before = {"a": "p", "b": "f", "c": "p", "d": "e"}
    after = dict(reversed(before.items()))
    return [
        write_log(folder / name / "log.jsonl", results, usage=USED)
        for name, results in (("a", before), ("b", after))
    ]


def varied(folder: Path, *seeds: int) -> list[RunLog]:
    return [read_log(varied_log(folder / str(seed) / "log.jsonl", seed)) for seed in seeds]


@pytest.mark.parametrize(
    "logs_in",
    [two_runs, models_of_one, a_run_and_itself, with_a_leak, with_calls_as_text, in_another_order],
)
def test_it_says_the_same_as_the_logs(tmp_path: Path, logs_in: Any) -> None:
    logs = logs_in(tmp_path)
    found = told(by_index([log.path for log in logs]), open_shown_run)
    assert found == told(compare_logs(logs), judged_run)


def test_what_a_case_took_may_be_asked_for_first(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    with index.open_log_index(log.path) as made, indexed_run(made, log.path) as (run, _):
        (found,) = run.trials.iterate_usage("m", [("shop", "often")])
    (expected,) = ComparedRun.from_log(log).trials.iterate_usage("m", [("shop", "often")])
    assert (found.input_tokens, list(found.latencies)) == (
        expected.input_tokens,
        list(expected.latencies),
    )


@pytest.mark.parametrize("seeds", often([[0, 1], [1, 2], [3, 4], [4, 0, 5], [2], [5]], 2))
def test_it_says_the_same_of_runs_in_which_everything_differs(
    tmp_path: Path, seeds: Sequence[int]
) -> None:
    logs = varied(tmp_path, *seeds)
    found = told(by_index([log.path for log in logs]), open_shown_run)
    assert found == told(compare_logs(logs), judged_run)


def test_costs_are_added_in_the_order_of_the_trials(tmp_path: Path) -> None:
    """The sums of cases, added, would differ in the last digit."""
    cases = {f"case {number}": "ppp" for number in range(40)}
    log = write_log(tmp_path / "log.jsonl", cases, usage=USED)
    (contrast,) = by_index([log.path] * 2).contrasts
    assert contrast.before.usage == sum((one.usage for one in log.results), Usage())
    assert contrast.before.usage.cost_usd != pytest.approx(12.0, abs=1e-15, rel=0)


@pytest.mark.slow
def test_people_are_heard_in_large_logs_as_well(tmp_path: Path) -> None:
    logs = varied(tmp_path, 1, 4)
    found = told(by_index([log.path for log in logs], by_people=True), open_shown_run)
    assert found == told(compare_logs([log.apply_reviews() for log in logs]), judged_run)
    assert found["json"] != told(by_index([log.path for log in logs]), open_shown_run)["json"]


def test_of_the_log_it_reads_the_header_alone(tmp_path: Path) -> None:
    logs = two_runs(tmp_path)
    paths = [log.path for log in logs]
    before = by_index(paths)
    for path in paths:
        facts = path.stat()
        head, _, rest = path.read_bytes().partition(b"\n")
        path.write_bytes(head + b"\n" + b"?" * len(rest))
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert by_index(paths) == before


def test_tool_lists_that_differ_are_told(tmp_path: Path) -> None:
    logs = [an_ordinary_log(tmp_path / name).path for name in ("a", "b")]
    line = ToolsLine(server="s", tools=ToolList(tools=(), digest="new"))
    with LogWriter(logs[1]) as writer:
        writer.append(line)
    found = told(by_index(logs), open_shown_run)
    assert found == told(compare_logs([read_log(log) for log in logs]), judged_run)
    assert "no tool list was seen" in found["json"]


def test_damaged_lines_are_told(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path).path
    log.write_bytes(log.read_bytes().replace(b'"trial":1', b'"trial":,', 1))
    with compared_run(log) as (_, damaged):
        assert list(damaged) == list(read_log(log).complaints)
    found = told(by_index([log] * 2), open_shown_run)
    assert found == told(compare_logs([read_log(log)] * 2), judged_run)
