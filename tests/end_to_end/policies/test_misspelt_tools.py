"""A tool that nobody is offered is told with exit code 3 before a model is asked.

The real thing, from end to end.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.harness_process import Finished, Project, plain_server
from tests.fake_provider import FakeProvider, call, say

POLICED = str(Path(__file__).with_name("policed_server.py"))
PERSONNEL = {"command": sys.executable, "args": [POLICED]}
CLERK, ADMIN = {"user_context": {"role": "clerk"}}, {"user_context": {"role": "admin"}}


def asked(
    project: Project, tests: list[dict[str, Any]], *options: str, **settings: Any
) -> tuple[Finished, int]:
    """Run a suite with a model that makes a call, and return how many requests that model got."""
    project.env["KEY"] = "test-key"
    with FakeProvider([call("get_person", {"person_id": "P-1007"}), say("Done.")]) as provider:
        model = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{provider.url}/v1",
            "api_key": "${KEY}",
        }
        project.configure(models={"models": {"fake": model}}, servers={"people": PERSONNEL})
        project.suite(
            "people",
            [{"prompt": "Go.", **test} for test in tests],
            server="people",
            model="fake",
            **settings,
        )
        return project.run("evals", "people", *options), len(provider.journal)


def forbidding(tool: Any, **more: Any) -> dict[str, Any]:
    return {"name": "forbids", "assertions": {"must_not_call": [tool]}, **ADMIN, **more}


ANYTHING = {"name": "anything", "assertions": {"max_calls": 5}, **ADMIN}


@pytest.mark.parametrize(
    ("test", "options", "settings"),
    [
        (forbidding("set_sallary"), (), {}),
        (ANYTHING, (), {"block": ["set_sallary"]}),
        (ANYTHING, ("--block", "set_sallary"), {}),
        ({**ANYTHING, "setup": ["set_sallary"]}, (), {}),
        ({**ANYTHING, "user_context": None, "as": "admin", "tool": "set_sallary",
          "expect": {"admin": "hidden"}}, (),
         {"identities": {"admin": {"role": "admin"}}}),
    ],
    ids=["a prohibition", "the suite's block", "--block", "setup", "a matrix"],
)  # fmt: skip
def test_a_typo_is_told_with_the_nearest_name_before_anything_is_asked(
    project: Project, test: dict[str, Any], options: tuple[str, ...], settings: dict[str, Any]
) -> None:
    given = {key: value for key, value in test.items() if value is not None}
    finished, requests = asked(project, [given], *options, **settings)
    assert (finished.code, requests) == (3, 0), finished.stderr
    assert "tool 'set_sallary'." in finished.stderr
    assert "Did you mean 'set_salary'?" in finished.stderr
    assert ("--block: " if options else "evals/people.yml:") in finished.stderr
    assert not list((project.folder / ".harness/runs").glob("*/log.jsonl"))


@pytest.mark.slow
def test_what_another_identity_is_offered_may_be_forbidden_also_where_that_one_is_not_picked(
    project: Project,
) -> None:
    others = {"name": "other", "assertions": {"max_calls": 5}, **ADMIN}
    for options in ((), ("-k", "forbids")):
        finished, requests = asked(project, [forbidding("set_salary", **CLERK), others], *options)
        assert finished.code == 0, finished.stderr
        assert requests
    graded = project.run("grade", "latest")
    assert graded.code == 0, graded.stderr


def test_a_tool_that_is_meant_to_be_absent_may_be_named(project: Project) -> None:
    tool = {"tool": "drop_everything", "allow_absent": True}
    finished, _ = asked(project, [forbidding(tool)], block=[tool])
    assert finished.code == 0, finished.stderr


def test_a_misspelt_tool_of_a_dataset_is_a_mistake_in_its_row(project: Project) -> None:
    project.configure(servers={"rows": plain_server()})
    table = "test_id,query,expected_tool,expected_args,expected_response_contains\n"
    (project.folder / "evals").mkdir()
    (project.folder / "evals/rows.csv").write_text(
        f"{table}a,Echo it.,echo,{{}},\nb,Echo it.,ecko,{{}},\n"
    )
    finished = project.run("evals", "evals/rows.csv")
    assert finished.code == 3, finished.stdout
    assert "evals/rows.csv:3" in finished.stderr
    assert "Did you mean 'echo'?" in finished.stderr


def test_a_log_is_not_judged_anew_by_a_misspelt_prohibition(project: Project) -> None:
    finished, _ = asked(project, [ANYTHING])
    assert finished.code == 0, finished.stderr
    project.suite(
        "people", [{"prompt": "Go.", **ANYTHING, "assertions": {"must_not_call": ["set_sallary"]}}]
    )
    graded = project.run("grade", "latest")
    assert graded.code == 3, graded.stdout
    assert "no list of tools in this log has a tool 'set_sallary'" in graded.stderr


def test_a_probe_refuses_what_nobody_is_offered(project: Project) -> None:
    project.configure(servers={"people": PERSONNEL})
    tests = [
        {"prompt": "Go.", **test}
        for test in (forbidding("set_sallary"), {**ANYTHING, "name": "c", **CLERK})
    ]
    project.suite("people", tests, server="people", block=["get_persn"])
    probed = project.run("probe", "people")
    assert probed.code == 3, probed.stdout
    assert "'set_salary'" in probed.stderr
    assert "'get_person'" in probed.stderr


def test_of_joined_servers_a_tool_may_be_blocked_by_the_name_that_is_offered(
    project: Project,
) -> None:
    project.configure(servers={"left": plain_server(), "right": plain_server()})
    test = {
        "name": "a",
        "prompt": "Echo 7 with the right server.",
        "assertions": {"max_replies": 9},
    }
    project.suite("both", [test], server=["left", "right"], block=["left__echo", "right__echo"])
    finished = project.run("evals", "both", "--json-output")
    (told,) = finished.document["result"]["tests"]
    assert {made["outcome"] for made in told["details"]["tool_calls"]} == {"blocked"}
