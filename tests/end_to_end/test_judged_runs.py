"""Datasets and judges as a user meets them.

Through the command line, with a judge over the wire.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, Incoming, Script, Step, call, say

HEADER = "test_id,query,expected_tool,expected_args,expected_response_contains\n"
ROWS = '1,Echo my number.,echo,"{""n"": 7}",hello\n2,Echo it again.,echo,{},\n'
ANSWER = "I said hello."


def both(score: float | None) -> Callable[[Incoming], Step]:
    """Play the model under test and, when asked with its tool, the judge."""

    def answer(request: Incoming) -> Step:
        if request.tool_names == ("verdict",):
            verdict = {"explanation": "As the tool says.", "score": score}
            return say("1.0, certainly") if score is None else call("verdict", verdict)
        return say(ANSWER) if request.turn else call("echo", {"n": 7.0})

    return answer


@pytest.fixture
def dataset(project: Project) -> Project:
    (project.folder / "evals").mkdir()
    (project.folder / "evals" / "words.csv").write_text(HEADER + ROWS)
    return project


def configure(project: Project, provider: FakeProvider, **more: object) -> None:
    models = {
        name: {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{provider.url}/v1",
            "api_key": "${FAKE_KEY}",
        }
        for name in ("answers", "judges")
    }
    project.env["FAKE_KEY"] = "test-key"
    project.configure(models={"models": {**models, **more}}, servers={"words": plain_server()})


def run(
    project: Project, script: Script, *arguments: str
) -> tuple[int, dict[str, Any], FakeProvider]:
    with FakeProvider(script) as provider:
        configure(project, provider)
        finished = project.run("evals", "words", "--model", "answers", "--json-output", *arguments)
    assert "Traceback" not in finished.stderr, finished.stderr
    return finished.code, finished.document["result"], provider


def test_a_dataset_is_judged_and_what_judging_took_is_told_apart(dataset: Project) -> None:
    code, result, provider = run(dataset, both(0.95), "--judge-model", "judges")
    assert code == 0, result
    first, second = result["tests"]
    assert [round(test["checks"][0]["score"], 2) for test in (first, second)] == [0.98, 0.98]
    metrics = first["checks"][0]["actual"]["metrics"]
    assert metrics["argument_match"]["score"] == 1.0
    assert metrics["faithfulness"]["judge"] == "judges"
    log = dataset.log()
    assert log.header.settings["judge"] == {"words": "judges"}
    assert log.header.settings["judge_prompt_version"] == "1"
    judging = [request for request in provider.journal if request.tool_names == ("verdict",)]
    assert len(judging) == 2
    assert all(request.body["temperature"] == 0 for request in judging)
    assert result["judge_usage"]["input_tokens"] > 0
    assert result["judge_usage"] != result["usage"]
    assert all(run.judgements[0].explanation == "As the tool says." for run in log.results)


def test_the_summary_shows_scores_and_the_judge(dataset: Project) -> None:
    with FakeProvider(both(0.05)) as provider:
        configure(dataset, provider)
        finished = dataset.run("evals", "words", "--model", "answers", "--judge-model", "judges")
    assert finished.code == 1
    assert "score 0.68" in finished.stdout
    assert "judge judges · tokens" in finished.stdout
    assert "Faithfulness 0.05 (judge judges): As the tool says." in finished.stdout


def test_a_judge_without_a_verdict_makes_every_case_an_error(dataset: Project) -> None:
    code, result, _ = run(dataset, both(None), "--judge-model", "judges")
    assert code == 4
    for test in result["tests"]:
        assert test["status"] == "error"
        assert test["error_kind"] == "judge"
        assert "gave no verdict in 2 attempts" in test["error"]


def test_without_a_judge_the_stand_in_is_announced(dataset: Project) -> None:
    with FakeProvider(both(1.0)) as provider:
        configure(dataset, provider)
        finished = dataset.run("evals", "words", "--model", "answers")
        assert {request.tool_names for request in provider.journal} != {("verdict",)}
        assert all(request.tool_names != ("verdict",) for request in provider.journal)
    assert "faithfulness is scored by keywords and grounding, not judged" in finished.stderr


def test_a_regrade_keeps_the_verdicts_whose_question_is_the_same(dataset: Project) -> None:
    run(dataset, both(0.95), "--judge-model", "judges")
    path = dataset.folder / "evals" / "words.csv"
    path.write_text(path.read_text().replace(": 7}", ": 8}"))  # no matter for the judge
    finished = dataset.run("grade", "latest", "--json-output")
    first, second = finished.document["result"]["tests"]
    assert finished.code == 1, finished.stderr
    assert first["checks"][0]["actual"]["metrics"]["faithfulness"]["score"] == 0.95
    assert first["checks"][0]["actual"]["metrics"]["argument_match"]["score"] == 0.0
    assert second["status"] == "passed"
    assert finished.document["result"]["judge_usage"]["input_tokens"] == 0


def test_a_regrade_of_a_changed_question_needs_a_judge(dataset: Project) -> None:
    run(dataset, both(0.95), "--judge-model", "judges")
    path = dataset.folder / "evals" / "words.csv"
    path.write_text(path.read_text().replace(",hello\n", ",farewell\n"))
    unjudged = dataset.run("grade", "latest", "--json-output")
    assert unjudged.code == 4
    (first, second) = unjudged.document["result"]["tests"]
    assert "no verdict of judges on this question as it is asked now" in first["error"]
    assert second["status"] == "passed"
    with FakeProvider(both(0.9)) as provider:
        configure(dataset, provider)
        judged = dataset.run("grade", "latest", "--judge-model", "judges", "--json-output")
        assert len(provider.journal) == 1
    assert judged.code == 0, judged.stdout + judged.stderr


def test_the_judges_key_is_in_no_file(dataset: Project) -> None:
    secret = "very-secret-judge"
    dataset.env["JUDGE_KEY"] = secret
    telltale = call("verdict", {"explanation": f"My key is {secret}.", "score": 1})
    with FakeProvider([telltale], require_key=secret) as judge, FakeProvider(both(1.0)) as provider:
        settings = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{judge.url}/v1",
            "api_key": "${JUDGE_KEY}",
        }
        configure(dataset, provider, telltale=settings)
        dataset.run("evals", "words", "--model", "answers", "--judge-model", "telltale")
        assert len(judge.journal) == 2
    written = dataset.log().path.read_text()
    assert "My key is [redacted]." in written
    assert secret not in written


def test_a_judge_model_that_cannot_judge_is_refused_before_the_run(dataset: Project) -> None:
    dataset.configure(servers={"words": plain_server()})
    finished = dataset.run("evals", "words", "--judge-model", "lexical")
    assert finished.code == 3
    assert "lexical cannot judge" in finished.stderr
