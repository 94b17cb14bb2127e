"""Recorded outputs, sent once more over HTTP and MCP.

The whole way of a live run gives the official verdicts.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base.fetching.cache import CACHE_VARIABLE, cache_root
from harness.leaderboards.bfcl.data import find_entry
from tests.end_to_end.harness_process import Project, code_of
from tests.fake_provider import FakeProvider
from tests.leaderboards.bfcl.replaying import replaying

MODEL = "glyphh-ada-1.1(claude-haiku-4.5 args)"
"""Has an output for every case."""
CATEGORIES = (
    "simple_python,simple_java,simple_javascript,multiple,parallel,parallel_multiple,irrelevance,"
    "live_simple,live_parallel,live_parallel_multiple"
)
SHARD = os.environ.get("HARNESS_REPLAY_SHARD", "1/40")
"""Which part of the 1,688 outputs; ``1/1`` replays them all."""


def recorded(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        for line in file:
            row = json.loads(line)
            if row["model"] == MODEL and row["category"] in CATEGORIES.split(","):
                yield row


@pytest.mark.slow
def test_an_output_that_is_said_once_more_gets_its_official_verdict(
    bfcl_data: Path, recorded_file: Path, tmp_path: Path
) -> None:
    rows = {row["id"]: row for row in recorded(recorded_file)}
    project = Project(tmp_path, {"KEY": "test-key", CACHE_VARIABLE: str(cache_root())})
    with FakeProvider(
        replaying((find_entry(name), row["result"]) for name, row in rows.items())
    ) as provider:
        model = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{provider.url}/v1",
            "api_key": "${KEY}",
        }
        project.configure(models={"models": {"fake": {**model, "max_retries": 0}}})
        finished = project.run(
            "evals", "bfcl", "--category", CATEGORIES, "--model", "fake", "--shard", SHARD
        )
    assert finished.code == code_of(project.log()), finished.stdout + finished.stderr
    runs = project.log().results
    assert len(runs) >= 40
    found = {
        run.case.name: (
            run.status == "passed",
            next((one.code for one in run.checks if one.code), None),
        )
        for run in runs
    }
    assert found == {name: (rows[name]["valid"], rows[name]["error_type"]) for name in found}
