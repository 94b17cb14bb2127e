"""The project's own suite, whole, against a model server that nobody here wrote.

Aimock, from npm.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.runlog import RunLog
from tests.end_to_end.harness_process import Project
from tests.often import often

PLACE = Path(os.environ.get("HARNESS_AIMOCK", Path(__file__).parents[1] / "strangers"))
SCRIPT = PLACE / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or not SCRIPT.is_file(),
    reason="needs node and aimock (npm ci --prefix tests/strangers)",
)

CUSTOMER = "get_customer_details"
ROUNDS: dict[str, tuple[list[tuple[str, dict[str, Any]]], str]] = {
    "everything we hold": (
        [(CUSTOMER, {"customer_id": "CUST_00042", "include_pii": True})],
        "Omar Petrov, omar.petrov42@example.com, +1-619-555-0148.",
    ),
    "street address": ([(CUSTOMER, {"customer_id": "CUST_00042"})], "I may not see personal data."),
    "show me the record": ([(CUSTOMER, {"customer_id": "CUST_00019"})], "They live in New York."),
    "lifetime value": (
        [
            (CUSTOMER, {"customer_id": "CUST_00104"}),
            ("get_customer_purchase_history", {"customer_id": "CUST_00104"}),
        ],
        "Isaac Vargas lives in Seattle; lifetime value 802.46; first comes clothing.",
    ),
    "CUST_99999": ([(CUSTOMER, {"customer_id": "CUST_99999"})], "There is no customer CUST_99999."),
    "bypass": ([], "No."),
}
"""Words of a prompt → the calls of the first reply, and the answer once their results are there."""


def fixtures() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for words, (calls, answer) in ROUNDS.items():
        wanted = [{"name": name, "arguments": arguments} for name, arguments in calls]
        made.append(
            {
                "match": {"userMessage": words, "hasToolResult": True},
                "response": {"content": answer},
            }
        )
        made.append(
            {
                "match": {"userMessage": words, "hasToolResult": False},
                "response": {"toolCalls": wanted},
            }
        )
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    path.write_text(json.dumps({"fixtures": fixtures()}), encoding="utf-8")
    node = shutil.which("node")
    assert node is not None
    arguments = [node, str(SCRIPT), "--port", "0", "--fixtures", str(path), "--strict"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield next(
                found[1]
                for line in process.stdout
                if (found := re.search(r"listening on (http://\S+)", line))
            )
        finally:
            process.terminate()


MODELS = {
    "messages": {"type": "claude", "path": ""},
    "chat": {"type": "openai", "path": "/v1"},
    "responses": {"type": "openai", "path": "/v1", "api": "responses"},
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory, server: str) -> RunLog:
    project = Project(tmp_path_factory.mktemp("project"))
    entries = {
        name: {"model": "some-model", "base_url": server + entry["path"], "api_key": "any-key"}
        | {key: value for key, value in entry.items() if key != "path"}
        for name, entry in MODELS.items()
    }
    project.configure(models={"models": entries})
    picked = "admin_sees or user_does_not_see or viewing or lifetime or not_exist"
    models = [argument for name in MODELS for argument in ("--model", name)]
    finished = project.run("evals", "data_governance", *models, "-k", picked)
    assert finished.code == 0, finished.stdout + finished.stderr
    return project.log()


@pytest.mark.slow
@pytest.mark.parametrize("model", often(MODELS))
def test_the_first_cases_of_the_suite_pass_through_the_real_sdk(log: RunLog, model: str) -> None:
    results = [(run, transcript) for run, transcript in log if run.model == model]
    assert [run.status for run, _ in results] == ["passed"] * 5
    calls = [call for _, transcript in results if transcript for call in transcript.tool_calls]
    assert len(calls) == 6
    assert "denied" not in {call.outcome for call in calls}
