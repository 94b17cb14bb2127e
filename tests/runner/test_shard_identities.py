from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.judging.checks import VOCABULARY
from harness.runlog import LogWriter, read_log
from harness.runner.launcher import build_header
from harness.runner.planning.plan import RunPlan, make_plan
from harness.runner.planning.request import RunOptions
from harness.runner.runs.shard import merge_logs, select_shard
from harness.suites.readers import read_suite
from harness.types import (
    ModelSpec,
    ServerSpec,
    TransportSpec,
)

SUITE = """\
suite: shop
identities: {admin: {role: admin}}
defaults: {as: [admin, anonymous]}
tests:
  - {name: a, prompt: a}
  - {name: b, prompt: b}
  - {name: c, prompt: c, user_context: {role: clerk}, assertions: {must_call: [x]}}
"""


def plan_of(folder: Path) -> RunPlan:
    path = folder / "shop.yml"
    path.write_text(SUITE)
    model, server = (
        ModelSpec(name="m", provider="lexical", model_id="m"),
        ServerSpec(name="s", transport=TransportSpec(command="s")),
    )
    return make_plan(
        [read_suite(path, VOCABULARY)], models_of=lambda _: [model], server_of=lambda _: server
    )


def test_the_identities_of_a_test_stay_on_one_machine(tmp_path: Path) -> None:
    parts = [select_shard(plan_of(tmp_path), f"{part}/2") for part in (1, 2)]
    assert [[job.trial.case.name for job in part.jobs] for part in parts] == [
        ["a [admin]", "a [anonymous]", "c"],
        ["b [admin]", "b [anonymous]"],
    ]


def test_parts_that_no_case_is_left_for_are_not_missed_when_logs_are_joined(tmp_path: Path) -> None:
    logs = []
    for part in (1, 2, 3):
        plan = select_shard(plan_of(tmp_path), f"0{part}/5")
        with LogWriter(tmp_path / str(part) / "log.jsonl") as writer:
            writer.append(build_header(plan, str(part), RunOptions()))
        logs.append(read_log(tmp_path / str(part) / "log.jsonl"))
    assert select_shard(plan_of(tmp_path), "4/5").jobs == ()
    assert merge_logs(logs, tmp_path / "all" / "log.jsonl").header.planned == 5
    with pytest.raises(UsageError, match="of 5 shards 2/5 is missing"):
        merge_logs([logs[0], logs[2]], tmp_path / "some" / "log.jsonl")
