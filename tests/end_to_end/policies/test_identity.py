"""Who asks: told to the server by every way there is, never to the model, and told from those who
only claim it.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.runlog import RunLog
from tests.end_to_end.harness_process import Finished, Project, findings, plain_server
from tests.end_to_end.warm import warm_python
from tests.fake_provider import FakeProvider, call, say
from tests.reports.packs import all_of

VERIFIED = Path(__file__).parents[2] / "sessions" / "verified_server.py"
ROOT = Path(__file__).parents[3]
OPAQUE = "opaque.token+of=nobody/else"
USER = {
    "name": "zz-name-4711",
    "role": "zz-role-4712",
    "teams": ["zz-team-4713"],
    "org": {"unit": "zz-unit-4714"},
}


def verified(*args: str, **identity: Any) -> dict[str, Any]:
    return {
        "command": "python",  # `configure` says which
        "args": [str(VERIFIED), "--port", "{port}", *args],
        "transport": "http",
        "identity": identity,
    }


SERVERS = {
    "by_meta": plain_server(),
    "by_env": plain_server(
        identity={"via": "env", "variables": {"ROLE": "{role}"}, "json_variable": "WHO"}
    ),
    "by_header": verified(
        "--opaque",
        "zz-role-4712",
        via="header",
        headers={"Authorization": "Bearer {role}", "X-Team": "{teams}"},
    ),
    "by_bearer": verified(via="bearer"),
    "by_command": verified(
        via="bearer", token_command=shlex.join([sys.executable, "-c", f"print({OPAQUE!r})"])
    )
    | {"env": {"OPAQUE": OPAQUE}},
}
LOOKS = {"by_meta": "echo", "by_env": "environment"}


def configure(project: Project, provider: FakeProvider, servers: dict[str, Any]) -> None:
    model = {
        "type": "claude",
        "model": "claude-sonnet-4-5",
        "base_url": provider.url,
        "api_key": "test-key",
    }
    servers = {
        name: {**server, "command": warm_python()} if server["command"] == "python" else server
        for name, server in servers.items()
    }
    project.configure(models={"default": "fake", "models": {"fake": model}}, servers=servers)


def seen(log: RunLog) -> dict[str, Any]:
    """Return what each server said of its caller to the call that its case made before the
    conversation.
    """
    found = {}
    for run, transcript in log:
        assert transcript is not None
        found[run.suite] = transcript.setup_calls[0].structured
    return found


def written(project: Project, finished: Finished) -> str:
    """Return everything that a run left behind."""
    files = [
        all_of(path.read_bytes().decode("utf-8", "replace"))
        for path in (project.folder / ".harness").rglob("*")
        if path.is_file()
    ]
    return "\n".join((finished.stdout, finished.stderr, *files))


def test_every_way_reaches_the_server_and_nothing_of_it_the_model_or_in_case_of_tokens_any_file(
    project: Project,
) -> None:
    with FakeProvider([say("Done.")]) as provider:
        configure(project, provider, SERVERS)
        test = {"name": "who", "prompt": "Hello.", "assertions": {"answer_contains": ["Done"]}}
        for name in SERVERS:
            # What a server last wrote is kept where it ends: this one wrote its Authorization
            # headers.
            calls = ["whoami", "crash"] if name == "by_command" else [LOOKS.get(name, "whoami")]
            project.suite(
                name,
                [{**test, "user_context": {"role": "somebody else"}}],
                defaults={"setup": calls},
            )
        finished = project.run("evals", *SERVERS, "-u", json.dumps(USER), "--json-output")
        assert finished.code == 1, finished.stderr
        assert "failed by_bearer::who" in finished.stderr
        assert (
            "Token was sent back: the answer of whoami contains the caller's token"
            in finished.stderr
        )
        told = seen(project.log())
        bodies = [json.dumps(incoming.body) for incoming in provider.journal]
    assert told["by_meta"]["meta"]["harness/user_context"] == USER
    assert (told["by_env"]["ROLE"], json.loads(told["by_env"]["WHO"])) == ("zz-role-4712", USER)
    assert told["by_header"]["claims"] == told["by_command"]["claims"] == {"opaque": True}
    assert told["by_bearer"]["claims"].items() >= USER.items()
    assert (
        told["by_bearer"]["authorization"]
        == told["by_command"]["authorization"]
        == "Bearer [redacted]"
    )
    assert len(bodies) == len(SERVERS) - 1
    for body in bodies:
        assert not [
            word for word in ("zz-", OPAQUE, "eyJ", "Bearer", "user_context") if word in body
        ], body
    left = written(project, finished)
    assert "Bearer [redacted]" in left
    assert [word for word in (OPAQUE, "eyJ", "PRIVATE KEY") if word in left] == []


def own_server(name: str, *options: str) -> dict[str, Any]:
    return {
        "command": warm_python(),
        "args": ["-m", f"servers.{name}", "--transport", "http", "--port", "{port}", *options],
        "cwd": str(ROOT),
        "transport": "http",
        "identity": "bearer",
    }


@pytest.mark.slow
def test_callers_with_flawed_tokens_are_judged_without_a_word_to_the_model(
    project: Project,
) -> None:
    flawed = ("none", "expired", "wrong_audience", "bad_signature")
    refused = [
        {"name": name, "credential": name, "assertions": {"must_be_refused": True}}
        for name in flawed
    ]
    unasked = {
        "name": "unasked",
        "credential": "expired",
        "assertions": {"must_not_call": ["delete_customer"]},
    }
    valid = {"name": "let_in", "assertions": {"must_be_refused": True}}
    looks = call("get_customer_details", {"customer_id": "CUST_00042"})
    with FakeProvider([looks, say("Omar Petrov.")]) as provider:
        configure(project, provider, {"door": own_server("data_governance")})
        tests = [{"prompt": "Who is CUST_00042?", **test} for test in (*refused, unasked, valid)]
        defaults = {"user_context": {"role": "admin", "permissions": []}}
        project.suite("door", tests, defaults=defaults)
        finished = project.run("evals", "door")
        assert len(provider.journal) == 2, "only the caller who is let in has a conversation"
    runs = {run.case.name: run for run in project.log().results}
    assert [runs[name].status for name in flawed] == ["passed"] * 4
    assert (runs["unasked"].status, runs["let_in"].status) == ("error", "failed")
    assert runs["unasked"].error is not None
    assert runs["unasked"].error.kind == "server"
    assert "HTTP 401" in runs["unasked"].error.message
    assert "Caller was let in although it must be refused" in finished.stdout
    assert finished.code == 1
    # Nothing was said, and still it is judged anew by what is asked today.
    today = [
        *({**test, "assertions": {"must_not_call": ["delete_customer"]}} for test in tests[:1]),
        *tests[2:],
    ]
    project.suite("door", today, defaults=defaults)
    project.run("grade", "latest")
    graded = {run.case.name: run for run in project.log().results}
    assert [graded[name].status for name in flawed] == ["error", "skipped", "passed", "passed"]
    assert graded["let_in"].status == "failed"


def test_what_a_server_cannot_be_shown_is_told_with_its_line(project: Project) -> None:
    test = {"prompt": "Hello.", "user_context": {"role": "a"}}
    project.configure(servers={"plain": plain_server()})
    expired = {
        **test,
        "name": "a",
        "credential": "expired",
        "assertions": {"answer_contains": ["a"]},
    }
    refused = {**test, "name": "b", "assertions": {"must_be_refused": True}}
    project.suite("door", [expired, refused], server="plain")
    finished = project.run("evals", "door", "--dry-run")
    assert finished.code == 3
    one, other = (line for line in finished.stderr.splitlines() if "evals/door.yml:" in line)
    assert "evals/door.yml:4:" in one
    assert (
        "test 'a': credential 'expired' needs a bearer token, but 'plain' gets identities by meta"
        in one
    )
    assert "test 'b': 'must_be_refused' needs a server over HTTP; 'plain' is on stdio" in other


@pytest.mark.slow
def test_our_own_servers_say_the_same_over_stdio_and_over_http(project: Project) -> None:
    # For data_governance see `test_data_governance`.
    asked = ("evals", "hr_access", "finance", "-k", "restricted_access or finance::4")
    over_stdio = project.run(*asked)
    stdio = findings(project.log())
    # A server of the project goes before a built-in one of that name.
    project.configure(
        servers={name: own_server(name, "--allow-anonymous") for name in ("hr", "finance")}
    )
    over_http = project.run(*asked)
    assert findings(project.log()) == stdio
    assert len(stdio) == 2
    assert over_http.code == over_stdio.code
