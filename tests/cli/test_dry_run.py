from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.dry_run import build_document, describe_plan
from harness.runner.planning.plan import RunPlan, make_plan
from harness.types import (
    Case,
    Check,
    ModelSpec,
    ServerSpec,
    Suite,
    TransportSpec,
)

MODEL = ModelSpec(name="lexical", provider="lexical", model_id="lexical")


def plan(server: ServerSpec, suite: str = "s") -> RunPlan:
    case = Case(name="a", prompt="?", checks=(Check(kind="answer_contains", params={"text": "x"}),))
    return make_plan(
        [Suite(name=suite, cases=(case,))], models_of=lambda _: [MODEL], server_of=lambda _: server
    )


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_dry_run_says_how_servers_are_reached_and_shows_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRM_TOKEN", "from-the-environment")
    desk = ServerSpec(
        name="desk",
        transport=TransportSpec(
            command="python", args=("desk.py", "--token", "supersecret999", "from-the-environment")
        ),
    )
    crm = ServerSpec(
        name="crm",
        transport=TransportSpec(
            kind="http", url="https://ada:lovelace@crm.example.com:8443/mcp/secret-path?k=v"
        ),
    )
    lines = describe_plan(plan(ServerSpec(name="desk+crm", members=(desk, crm)))).splitlines()
    assert [line for line in lines if line.startswith("server")] == [
        "server desk: python desk.py --token [redacted] [redacted]",
        "server crm: runs at crm.example.com:8443",
    ]


def test_a_dry_run_is_one_document_where_one_is_asked_for() -> None:
    server = ServerSpec(
        name="desk",
        transport=TransportSpec(command="python", args=("desk.py", "--token", "supersecret999")),
    )
    assert build_document(plan(server)) == {
        "status": "ok",
        "result": {
            "dry_run": True,
            "suites": [{"name": "s", "cases": 1, "trials": 1}],
            "servers": [{"name": "desk", "started": "python desk.py --token [redacted]"}],
            "estimates": [
                {"model": "lexical", "role": "model", "trials": 1, "known": 0, "input_tokens": 0,
                 "output_tokens": 0,
                 "cost_usd": 0.0, "choices": 0},
            ],
        },
    }  # fmt: skip


def test_nothing_in_a_dry_run_is_taken_for_a_command() -> None:
    server = ServerSpec(
        name="s", transport=TransportSpec(command="sh", args=("-c", "a\n::error::pwned\x1b[31m"))
    )
    shown = describe_plan(plan(server, "x\n::error::pwned"))
    assert "server s: sh -c a : :error::pwned" in shown.splitlines()
    assert "\n::" not in shown
    assert "\x1b" not in shown
