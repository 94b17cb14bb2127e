"""The smaller commands and options, as a user types them."""

from __future__ import annotations

import json
import shlex
import sys

from harness.runlog.folders import run_ids
from tests.end_to_end.harness_process import PLAIN_SERVER, Project, plain_server

ECHO = {"name": "echo", "prompt": "Echo 'hello'.", "assertions": {"must_call": ["echo"]}}
COMMAND = shlex.join([sys.executable, "-I", "-S", str(PLAIN_SERVER), "good"])


def test_a_server_without_any_configuration_is_named_on_the_command_line(project: Project) -> None:
    project.suite("first", [ECHO])
    finished = project.run("evals", "first", "--server", COMMAND, "--json-output")
    assert finished.code == 0, finished.stderr
    assert finished.document["result"]["tests"][0]["details"]["tool_calls"][0]["tool"] == "echo"


def test_suites_are_run_by_name_by_path_several_or_all(project: Project) -> None:
    for name in ("one", "two", "three"):
        project.suite(name, [ECHO], server=plain_server())
    for arguments, expected in (
        (["one"], ["one"]),
        (["evals/two.yml"], ["two"]),
        (["one", "three"], ["one", "three"]),
        ([], ["one", "three", "two"]),
    ):
        finished = project.run("evals", *arguments)
        assert finished.code == 0, finished.stderr
        assert sorted(project.log().header.suites) == sorted(expected)


def test_debug_prints_every_conversation(project: Project) -> None:
    project.suite("first", [ECHO], server=plain_server())
    finished = project.run("evals", "first", "--debug")
    assert "user      Echo 'hello'." in finished.stdout
    assert "call      echo(" in finished.stdout
    assert "1 planned: 1 passed" in finished.stdout


def test_a_user_context_on_the_command_line_replaces_that_of_every_case(project: Project) -> None:
    project.suite("first", [ECHO | {"user_context": {"role": "user"}}], server=plain_server())
    finished = project.run("evals", "first", "--user-context", '{"role": "admin"}')
    assert finished.code == 0, finished.stderr
    assert project.log().results[0].case.user_context == {"role": "admin"}
    transcript = project.log().read_transcript(project.log().results[0].key)
    assert transcript is not None
    (made,) = transcript.tool_calls
    assert made.structured["meta"]["harness/user_context"] == {"role": "admin"}


def test_each_run_has_a_folder_of_its_own(project: Project) -> None:
    project.suite("first", [ECHO], server=plain_server())
    for _ in range(2):
        project.run("evals", "first")
    assert len(run_ids(project.folder / ".harness" / "runs")) == 2


def test_tools_are_listed_with_their_parameters_and_their_price_in_tokens(project: Project) -> None:
    finished = project.run("tools", "data_governance", "--user-context", '{"role": "admin"}')
    assert finished.code == 0, finished.stderr
    for words in (
        "get_customer_details",
        "customer_id: string",
        "include_pii?: boolean",
        "destructive",
        "tokens",
    ):
        assert words in finished.stdout
    assert (
        "delete_customer" not in project.run("tools", "data_governance").stdout
    )  # hidden from nobody in particular


def test_tools_are_listed_as_json(project: Project) -> None:
    document = project.run("tools", "--server", COMMAND, "--json-output").document
    assert document["tools"][0]["name"] == "echo"
    assert document["estimated_tokens"] > 0


def test_models_are_listed_with_their_sources_and_never_with_a_key(project: Project) -> None:
    entry = {"type": "openai", "model": "gpt-4o", "api_key": "${MY_KEY}", "timeout": 9}
    project.configure(
        models={"default": "mine", "models": {"mine": entry, "other": {"type": "claude"}}}
    )
    finished = project.run("models", MY_KEY="sk-very-secret-key")
    assert finished.code == 0
    for words in (
        "mine (default)",
        "key: present ($MY_KEY)",
        "timeout: 9",
        "[harness.yml:",
        "set ANTHROPIC_API_KEY",
    ):
        assert words in finished.stdout
    as_json = project.run("models", "--json-output", MY_KEY="sk-very-secret-key")
    assert json.loads(as_json.stdout)["default"] == "mine"
    assert "very-secret" not in finished.stdout + finished.stderr + as_json.stdout


def test_a_secret_of_the_server_is_in_no_file_of_the_run(project: Project) -> None:
    secret = "hunter2-hunter2-hunter2"
    project.suite(
        "first",
        [
            {
                "name": "a",
                "prompt": "Show the environment.",
                "assertions": {"must_call": ["environment"]},
            }
        ],
        server=plain_server(env={"API_TOKEN": "${SHOP_TOKEN}"}),
    )
    finished = project.run("evals", "first", "--debug", "--report", "out.jsonl", SHOP_TOKEN=secret)
    assert finished.code == 0, finished.stdout
    written = [path.read_bytes() for path in project.folder.rglob("*") if path.is_file()]
    assert not any(secret.encode() in content for content in written)
    assert secret not in finished.stdout + finished.stderr
    assert "[redacted]" in finished.stdout


def test_the_configured_default_model_is_used_without_a_notice(project: Project) -> None:
    project.configure(models={"default": "lexical"})
    project.suite("first", [ECHO], server=plain_server())
    finished = project.run("evals", "first")
    assert finished.code == 0, finished.stderr
    assert "No model was named" not in finished.stderr


def test_a_suite_may_ask_for_a_fresh_process_for_each_of_its_trials(project: Project) -> None:
    spawned = project.folder / "spawned"
    script = f"echo x >> {spawned}; exec {COMMAND}"
    project.configure(servers={"shop": {"command": "sh", "args": ["-c", script]}})
    for isolation, expected in (("identity", 1), ("case", 3)):
        spawned.unlink(missing_ok=True)
        project.suite(
            "first",
            [ECHO | {"name": f"echo_{n}"} for n in range(3)],
            server="shop",
            isolation=isolation,
        )
        assert project.run("evals", "first", "--concurrency", "1").code == 0
        assert len(spawned.read_text().split()) == expected


def test_a_suite_may_forbid_what_could_change_something(project: Project) -> None:
    project.configure(servers={"shop": plain_server()})
    test = {"name": "a", "prompt": "Get the rows.", "assertions": {"must_call": ["rows"]}}
    for guard in ({"read_only": True}, {"block": ["rows"]}):
        project.suite("first", [test], server="shop", **guard)
        finished = project.run("evals", "first", "--json-output")
        calls = finished.document["result"]["tests"][0]["details"]["tool_calls"]
        assert {made["outcome"] for made in calls} == {"blocked"}
