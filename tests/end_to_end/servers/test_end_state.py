"""What a conversation leaves behind in a real server, read when it is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project
from tests.end_to_end.warm import warm_python
from tests.fake_provider import FakeProvider, Incoming, Step, call, say

SERVER = str(Path(__file__).with_name("stateful_server.py"))
CANCEL_7 = [{"tool": "cancel_order", "args": {"id": 7}}]


def clumsy(request: Incoming) -> Step:
    """Cancel what is asked for; where it is told to hurry, cancel order 8 as well."""
    number = int(request.prompt.split()[-1])
    if request.turn == 0:
        return call("cancel_order", {"id": number})
    return (
        call("cancel_order", {"id": 8})
        if "hurry" in request.prompt and request.turn == 1
        else say("Cancelled.")
    )


def run(project: Project, tests: list[dict[str, Any]], *options: str, **server: Any) -> Any:
    project.env["KEY"] = "test-key"
    with FakeProvider(clumsy) as provider:
        model = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{provider.url}/v1",
            "api_key": "${KEY}",
        }
        project.configure(models={"models": {"fake": {**model, "max_retries": 0}}})
        own = {"command": warm_python(), "args": [SERVER], **server}
        project.suite("orders", tests, server=own, model="fake")
        return project.run("evals", "orders", "--json-output", *options)


def case(name: str, prompt: str, *states: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "prompt": prompt, "assertions": {"end_state": list(states)}}


def test_the_end_state_is_read_by_resource_and_tool_and_compared_with_a_fresh_copy(
    project: Project,
) -> None:
    finished = run(
        project,
        [
            case(
                "right",
                "Cancel order 7",
                {"resource": "db://orders", "path": '["7"]', "value": {"$contains": "cancelled"}},
                {"tool": "get_order", "args": {"id": 8}, "path": "status", "value": "open"},
                {"resource": "db://orders", "same_state_as": CANCEL_7},
            ),
            {
                **case(
                    "set_up",
                    "Cancel order 7",
                    {"resource": "db://orders", "same_state_as": CANCEL_7},
                ),
                "setup": [{"tool": "cancel_order", "args": {"id": 8}}],
            },
            case(
                "too_much",
                "Please hurry and cancel 7",
                {"resource": "db://orders", "same_state_as": CANCEL_7},
            ),
            case(
                "unread", "Cancel order 7", {"tool": "cancel_order", "args": {"id": 8}, "value": {}}
            ),
        ],
        "--concurrency",
        "20",
    )
    tests = {test["name"]: test for test in finished.document["result"]["tests"]}
    assert tests["right"]["status"] == "passed", str(tests["right"])
    assert tests["set_up"]["status"] == "passed", str(tests["set_up"])
    assert tests["too_much"]["status"] == "failed"
    assert "End state differs" in tests["too_much"]["checks"][0]["explanation"]
    assert (tests["unread"]["status"], tests["unread"]["error_kind"]) == ("error", "judge")
    assert "is not marked as read-only" in tests["unread"]["error"]
    assert finished.code == 1


@pytest.mark.slow
def test_a_reset_call_gives_every_trial_a_fresh_state_in_one_process_and_a_query_reads_past_it(
    project: Project, tmp_path: Path
) -> None:
    starts, database = tmp_path / "starts", tmp_path / "orders.db"
    count = f"open({str(starts)!r}, 'a').write('x')"
    counting = (
        f"import runpy, sys; {count}; sys.argv.pop(0); runpy.run_path(sys.argv[0], "
        f"run_name='__main__')"
    )
    finished = run(
        project,
        [
            case(
                "right",
                "Cancel order 7",
                {"query": "statuses", "value": [{"status": "open+cancelled"}, {"status": "open"}]},
            )
        ],
        "--trials",
        "6",
        "--concurrency",
        "1",
        args=["-c", counting, SERVER, str(database)],
        reset="reset_orders",
        queries={
            "statuses": {"sql": "SELECT status FROM orders ORDER BY id", "database": str(database)}
        },
    )
    assert finished.code == 0, finished.stdout + finished.stderr
    assert starts.read_text() == "x"


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        ({"a": {"sql": "SELECT 1"}}, "a query needs SQL and a database, or a command"),
        ({"a": {"sql": "SELECT 1", "databse": "x"}}, "unknown key 'databse'"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused_with_its_place(
    project: Project, queries: dict[str, Any], words: str
) -> None:
    finished = run(
        project, [case("a", "Cancel order 7", {"query": "a", "value": 1})], queries=queries
    )
    assert finished.code == 3
    assert words in finished.document["error"]
    assert "evals/orders.yml:" in finished.document["error"]
