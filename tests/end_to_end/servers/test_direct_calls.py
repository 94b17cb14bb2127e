"""Tests without a model beside questions, from the command line to the log."""

from __future__ import annotations

import pytest

from tests.end_to_end.harness_process import Project, plain_server

CALL = {
    "name": "call",
    "call": {"tool": "echo", "args": {"text": "hello"}},
    "assertions": {"must_succeed": "echo"},
}
ASK = {"name": "ask", "prompt": "Echo 'hello'.", "assertions": {"must_call": ["echo"]}}
WRONG = CALL | {"name": "wrong", "assertions": {"must_be_denied": "echo"}}


def test_a_suite_of_calls_alone_asks_no_model_whatever_is_configured(project: Project) -> None:
    project.suite("calls", [CALL | {"trials": 2}], server=plain_server(), model="gpt-4o")
    finished = project.run("evals", "calls")
    assert finished.code == 0, finished.stderr
    log = project.log()
    assert log.header.entrants == {"no model": {"model": "no model"}}
    assert "baseline" not in finished.stdout + finished.stderr
    assert "model no model  (calls of the cases themselves)" in finished.stdout
    assert [(trial.status, trial.replies) for trial in log.results] == [("passed", 0)] * 2


@pytest.mark.slow
def test_calls_stand_beside_questions_once_for_all_models_and_variants(project: Project) -> None:
    (project.folder / "more.yml").write_text("variants: {short: {prefix: x_}}\n")
    project.suite("both", [CALL, ASK, WRONG], server=plain_server())
    finished = project.run("evals", "both", "--variant", "none", "--variant", "more.yml")
    assert finished.code == 1, finished.stderr
    log = project.log()
    names = sorted((trial.case.name, trial.entrant, trial.status) for trial in log.results)
    assert names == [
        ("ask", "lexical", "passed"),
        ("ask", "lexical+short", "passed"),
        ("call", "no model", "passed"),
        ("wrong", "no model", "failed"),
    ]
    # Models are compared with each other, and calls with nothing.
    assert "A  lexical " in finished.stdout
    assert "A  no model" not in finished.stdout
    again = project.run("evals", "--last-failed")
    assert again.code == 1, again.stderr
    assert "1 planned: 1 failed" in again.stdout
    judged = project.run("grade", log.path.parent.name)
    assert judged.code == 1, judged.stderr
