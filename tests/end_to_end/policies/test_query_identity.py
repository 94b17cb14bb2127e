"""Who asks, told in the URL: a suite of policies against a web server, over both transports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project
from tests.end_to_end.warm import warm_python
from tests.reports.packs import all_of

SERVER = Path(__file__).with_name("query_server.py")
SECRET = "zz-Passw0rd-4711"
IDENTITIES = {
    "admin": {"role": "admin", "api_key": SECRET},
    "clerk": {"role": "clerk", "chief": None},
}
TESTS: list[dict[str, Any]] = [
    {
        "name": "record",
        "prompt": "Get the person P-1007.",
        "tool": {"tool": "get_person", "args": {"person_id": "P-1007"}},
        "setup": ["read_address"],
        "expect": {
            "admin": {"decision": "allowed", "tool_result_contains": ["64512"]},
            "clerk": {"decision": "filtered", "without": ["salary"]},
            "anonymous": "denied",
        },
    }
]


def people(
    project: Project, kind: str, tests: list[dict[str, Any]], fault: str = "none", **more: Any
) -> None:
    path = {"http": "/mcp", "sse": "/sse"}[kind]
    server = {
        "command": warm_python(),
        "args": [str(SERVER), "{port}", kind, fault],
        "transport": kind,
        "url": f"http://127.0.0.1:{{port}}{path}?tenant=one&role=guest",
        "identity": {
            "via": "query",
            "parameters": {"role": "{role}", "key": "{api_key}", "chief": "{chief}"},
        },
    }
    project.configure(servers={"people": server})
    defaults = {"as": [*IDENTITIES, "anonymous"]}
    project.suite(
        "people",
        tests,
        **{"server": "people", "identities": IDENTITIES, "defaults": defaults, **more},
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["http", "sse"])
def test_policies_are_judged_by_an_identity_in_the_url_and_its_secrets_reach_no_file(
    project: Project, kind: str
) -> None:
    people(project, kind, TESTS)
    finished = project.run("evals", "people", "--json-output")
    assert finished.code == 0, finished.stdout + finished.stderr
    log = project.log()
    seen = {}
    for run, transcript in log:
        assert transcript is not None
        seen[run.case.identity] = transcript.setup_calls[0].structured["parameters"]
    own = {who: pairs.pop(0)[0] for who, pairs in seen.items()}
    # Over SSE a request goes to the address that the server names, with the caller's parameters.
    assert set(own.values()) == {"session_id" if kind == "sse" else "tenant"}
    assert seen == {
        "admin": [["key", "[redacted]"], ["role", "admin"]],
        "clerk": [["role", "clerk"]],
        "anonymous": [] if kind == "sse" else [["role", "guest"]],
    }
    left = [all_of(path.read_text()) for path in (project.folder / ".harness").rglob("*.jsonl")]
    assert SECRET not in "\n".join((finished.stdout, finished.stderr, *left))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "found"), [("none", ""), ("header", "in headers that a proxy sets")]
)
def test_a_probe_leaves_the_parameters_that_say_who_asks_and_tries_all_others(
    project: Project, fault: str, found: str
) -> None:
    (record,) = TESTS
    tests = [{key: value for key, value in record.items() if key != "setup"}]
    identities = {role: {"role": role} for role in IDENTITIES}
    people(project, "http", tests, fault, block=["read_address"], identities=identities)
    finished = project.run("probe", "people", "--json-output")
    document = finished.document
    assert document["forged_calls"]["identity"] > 0
    assert [each["words"] for each in document["findings"] if found not in each["words"]] == []
    assert finished.code == bool(document["findings"]) == bool(found), finished.stdout
