"""A comparison says the same from indexes as from logs."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from harness.querying.compared import indexed_run
from harness.querying.index import index_of
from harness.reports.comparing.compare import compare, compare_runs
from harness.reports.comparing.json_form import write_comparison_json
from harness.reports.comparing.nouns import Comparison
from harness.runlog import LogWriter, RunLog, ToolsLine, read_log
from harness.types import ToolList, Usage
from tests.judging.test_golden_logs import GOLDEN
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import an_ordinary_log

USED = Usage(input_tokens=9, output_tokens=3, cache_read_tokens=4, cost_usd=0.5)


def told(comparison: Comparison) -> dict[str, Any]:
    stream = io.StringIO()
    write_comparison_json(comparison, stream, None)
    return dict(json.loads(stream.getvalue()))


def by_index(logs: Sequence[RunLog]) -> Comparison:
    with ExitStack() as stack:
        indexes = [stack.enter_context(index_of(log.path)) for log in logs]
        runs = [
            stack.enter_context(indexed_run(index, log.path))[0]
            for index, log in zip(indexes, logs, strict=True)
        ]
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


@pytest.mark.parametrize("logs_in", [two_runs, models_of_one, a_run_and_itself, with_a_leak])
def test_it_says_the_same_as_the_logs(tmp_path: Path, logs_in: Any) -> None:
    logs = logs_in(tmp_path)
    assert told(by_index(logs)) == told(compare(logs))


def test_tool_lists_that_differ_are_told(tmp_path: Path) -> None:
    logs = [an_ordinary_log(tmp_path / name) for name in ("a", "b")]
    line = ToolsLine(server="s", tools=ToolList(tools=(), digest="new"))
    with LogWriter(logs[1].path) as writer:
        writer.append(line)
    read = [read_log(log.path) for log in logs]
    assert told(by_index(read)) == told(compare(read))
    assert "no tool list was seen" in json.dumps(told(by_index(read)))


def test_damaged_lines_are_told(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path).path
    log.write_bytes(log.read_bytes().replace(b'"index":0', b'"index":,', 1))
    with index_of(log) as index, indexed_run(index, log) as (_, damaged):
        assert list(damaged) == list(read_log(log).complaints)
    assert told(by_index([read_log(log)] * 2)) == told(compare([read_log(log)] * 2))
