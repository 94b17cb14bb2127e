"""``pytest evals/ --harness-agent``: agents answer the cases."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.agents.projects import AGENT, ECHO
from tests.end_to_end.harness_process import Project, plain_server
from tests.pytest_plugin.sessions import logs, outcomes, run

USE = f"{sys.executable} {AGENT} use {{prompt}}"
WRONG = {"name": "wrong", "prompt": "Hi.", "assertions": {"answer_contains": "no such words"}}


def test_an_agent_answers_each_case_and_fails_in_harness_s_words(tmp_path: Path) -> None:
    Project(tmp_path).suite("desk", [ECHO, WRONG], server=plain_server())
    finished = run(tmp_path, "evals", "-rA", "--harness-agent", USE)
    assert outcomes(finished) == {
        "evals/desk.yml::echoes": "passed",
        "evals/desk.yml::wrong": "failed",
    }
    assert "agent command; what it did without the server is not seen" in finished.stdout
    (log,) = logs(tmp_path)
    assert {one.model for one in log.results} == {"agent.py"}


def test_an_agent_may_stand_in_pytest_s_configuration_beside_a_model(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.configure(agents={"ours": {"type": "command", "command": USE}})
    project.suite("desk", [ECHO], server=plain_server())
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nharness_agent = ours\nharness_model = lexical\n", "utf-8"
    )
    finished = run(tmp_path, "evals", "-rA")
    assert set(outcomes(finished)) == {
        "evals/desk.yml::echoes[lexical]",
        "evals/desk.yml::echoes[ours]",
    }
    assert outcomes(finished)["evals/desk.yml::echoes[ours]"] == "passed"


def test_an_agent_that_nobody_knows_is_an_error_that_names_it(tmp_path: Path) -> None:
    Project(tmp_path).suite("desk", [ECHO], server=plain_server())
    finished = run(tmp_path, "evals", "--harness-agent", "no-such-agent")
    assert finished.code != 0
    assert "there is no agent named 'no-such-agent'" in finished.stdout + finished.stderr
