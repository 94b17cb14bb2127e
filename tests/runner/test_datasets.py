from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidInput
from harness.runner.planning.prepare import prepare_plan
from harness.runner.planning.request import RunRequest
from harness.types import DEFAULT_TIMEOUT_S
from tests.suites.test_csv_dataset import HEADER, row


def test_a_dataset_beyond_the_limit_is_run_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "many.csv").write_text(
        HEADER + "".join(row(test_id=str(number)) for number in range(101))
    )
    request = RunRequest(suites=["many"], server="python server.py")
    with pytest.raises(InvalidInput, match="--max-cases"):
        prepare_plan(request, tmp_path, {"PATH": "/usr/bin"})
    prepared = prepare_plan(
        RunRequest(suites=["many"], server="python server.py", max_cases=101), tmp_path, {}
    )
    assert len(prepared.plan.jobs) == 101
    assert prepared.plan.jobs[0].trial.case.limits.timeout_s == DEFAULT_TIMEOUT_S == 60
    assert prepared.plan.jobs[0].judge is None


def test_a_dataset_gets_the_server_that_is_named_like_it(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "finance.csv").write_text(HEADER + row())
    prepared = prepare_plan(RunRequest(suites=["finance"]), tmp_path, {})
    assert [server.name for server in prepared.plan.servers] == ["finance"]
