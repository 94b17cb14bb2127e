"""The API as a program uses it: real runs, of suites by name, class and instance."""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

import harness
from harness.errors import InvalidInput, NothingToRun, UsageError
from harness.reports.build import build_report
from harness.runlog import read_log
from harness.types import Report
from tests.end_to_end.harness_process import plain_server
from tests.fake_provider import FakeProvider, Incoming, say, status

SERVER = plain_server(protocol="legacy")


class Capitals:
    """Three questions."""

    name = "capitals"
    server = SERVER

    def cases(self) -> list[Any]:
        return [
            harness.PythonCase(id="fr", input="What is the capital of France?", expected="Paris"),
            {
                "id": "it",
                "input": "What is the capital of Italy?",
                "expected": "Rome",
                "metadata": {"category": "smoke"},
            },
            {"id": "xx", "input": "What is the capital of Atlantis?", "expected": "none"},
        ]

    def check(self, case: Any, run: harness.PythonRun) -> Any:
        expected = case["expected"] if isinstance(case, dict) else case.expected
        if expected == "none":
            raise LookupError("nobody knows")
        return expected in run.answer


class Priced(Capitals):
    name = "priced"

    def cost_estimator(self, model: str, tokens_in: int, tokens_out: int) -> float:
        assert model == "openai:gpt-4o"
        return 1.0 if tokens_in and tokens_out else 0.0


class Asked:
    """A suite with something to set."""

    name = "asked"
    server = SERVER

    def __init__(self, question: str) -> None:
        self.question = question

    def cases(self) -> list[Any]:
        return [{"id": "one", "input": self.question}]

    def check(self, case: Any, run: Any) -> None:
        assert run.messages[0]["content"] == self.question


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL", "_CONFIG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def knows(request: Incoming) -> Any:
    return say("It is Paris." if "France" in request.prompt else "I do not know.")


def ask(provider: FakeProvider, suite: Any, more: dict[str, Any] | None = None, **settings: Any) -> Report:
    opts = {"base_url": f"{provider.url}/v1", "api_key": "test-key", "input_price": 1, "output_price": 1}
    return harness.run(suite=suite, model="openai:gpt-4o", provider_opts={**opts, **(more or {})}, **settings)


def test_a_class_is_run_and_the_report_has_the_shape_that_benchmark_runners_know(project: Path) -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Capitals, report_path="out/report.jsonl", concurrency=2, timeout_ms=30_000)
    assert (report.suite_name, report.model, report.report_path) == ("capitals", "openai:gpt-4o", "out/report.jsonl")
    assert report.started_at < (report.completed_at or "")
    summary = report.summary
    assert (summary["total"], summary["pass"], summary["fail"], summary["error"]) == (3, 1, 1, 1)
    assert summary["pass_rate"] == 0.5
    assert summary["avg_latency_ms"] == pytest.approx(summary["total_latency_ms"] / 3, abs=0.01)
    assert summary["total_tokens_in"] > 0
    assert summary["total_tokens_out"] > 0
    assert summary["total_cost_usd"] > 0
    assert [(run.case, run.status) for run in report.runs] == [("fr", "passed"), ("it", "failed"), ("xx", "error")]
    failure = report.runs[2].error
    assert failure is not None
    assert failure.kind == "harness"
    assert "check of suite capitals raised an error: " in failure.message
    assert "LookupError: nobody knows" in failure.message

    lines = [json.loads(line) for line in (project / "out" / "report.jsonl").read_text().splitlines()]
    assert [(line["case_id"], line["pass"]) for line in lines] == [("fr", True), ("it", False), ("xx", False)]
    assert set(lines[1]) == {
        "suite", "case_id", "model", "pass", "latency_ms", "tokens_in", "tokens_out", "cost_usd", "events_digest",
        "error", "timestamp", "metadata",
    }  # fmt: skip
    assert lines[1]["metadata"]["category"] == "smoke"


def test_options_of_the_program_reach_the_provider_and_no_secret_reaches_the_log(project: Path) -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Capitals, {"temperature": 0.5, "max_tokens": 99, "headers": {"x-a": "b"}}, pattern="fr")
        (request,) = provider.journal
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.5, 99)
    assert request.headers["x-a"] == "b"
    assert "test-key" not in Path(report.log).read_text()
    assert build_report(read_log(Path(report.log))) == report


def test_an_instance_keeps_what_it_was_made_with() -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, [Asked("Where?"), Capitals()], pattern="one or fr")
    assert [(run.suite, run.status) for run in report.runs] == [("asked", "passed"), ("capitals", "passed")]


def test_a_suites_own_costs_go_before_the_price_table() -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Priced, pattern="fr")
    assert report.usage.cost_usd == 1.0


def test_names_paths_and_loaded_suites_are_run_as_ever(project: Path) -> None:
    (project / "evals").mkdir()
    path = project / "evals" / "shop.yml"
    test = {"name": "a", "prompt": "Hello", "assertions": {"answer_contains": ["find"]}}
    path.write_text(yaml.safe_dump({"suite": "shop", "server": SERVER, "tests": [test]}))
    for suite in ("shop", "evals/shop.yml", path, harness.load_suite(path), ["shop"], ()):
        assert harness.run(suite, model="lexical").summary["total"] == 1


def test_run_async_does_the_same_inside_a_loop() -> None:
    async def main() -> Report:
        with pytest.raises(UsageError, match=r"await harness\.run_async"):
            harness.run(Capitals)
        return await harness.run_async(Capitals, model="lexical", pattern="fr")

    assert anyio.run(main).summary["total"] == 1
    assert inspect.signature(harness.run) == inspect.signature(harness.run_async)


def test_the_parameters_that_callers_rely_on_have_their_names_and_order() -> None:
    parameters = inspect.signature(harness.run).parameters
    wanted = ("suite", "model", "report_path", "concurrency", "timeout_ms", "provider_opts")
    assert tuple(parameters)[: len(wanted)] == wanted


def test_a_timeout_in_milliseconds_goes_before_the_cases_own() -> None:
    report = harness.run(Capitals, model="lexical", timeout_ms=1234, pattern="fr")
    assert report.settings["request"]["timeout_s"] == 1.234
    assert report.settings["request"]["suites"] == [f"{__name__}:Capitals"]


@pytest.mark.parametrize(
    ("opts", "words"),
    [
        ({"temprature": 1}, "a model has no setting 'temprature'\n  Did you mean 'temperature'"),
        ({"temperature": "hot"}, "model 'openai:gpt-4o': temperature: expected a number"),
        ({"body": object()}, "model 'openai:gpt-4o': body: a object is no JSON"),
        ({"base_url": "localhost"}, "a base_url looks like"),
        ({"api_key": ""}, "an API key is needed"),
    ],
)
def test_an_option_that_does_not_fit_is_told_in_words(opts: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        harness.run(Capitals, model="openai:gpt-4o", provider_opts=opts)
    assert words in str(caught.value)


def test_a_model_of_the_judge_is_not_changed_by_options_for_the_model_under_test() -> None:
    class Judged(Capitals):
        def cases(self) -> list[Any]:
            return [{"id": "a", "input": "Hello", "assertions": {"answer_judge": {"rubric": "polite"}}}]

    with FakeProvider([status(400)]) as provider, pytest.raises(UsageError, match=r"OPENAI_API_KEY|key"):
        ask(provider, Judged, judge_model="openai:gpt-4o-mini")


def test_what_cannot_be_run_is_told_before_anything_starts() -> None:
    class Empty(Capitals):
        def cases(self) -> list[Any]:
            return []

    with pytest.raises(NothingToRun):
        harness.run(Empty)
    with pytest.raises(InvalidInput):
        harness.run(Path)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        harness.run("no_such_suite")
    assert not Path(".harness").exists()


def test_no_more_trials_are_run_than_it_takes() -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Capitals, trials=5, least_trials=2)
    ended = {case.case: [run.status for run in case.trials] for case in report.cases}
    assert ended["fr"] == ["passed"] * 5
    assert ended["it"] == ["failed", "failed", "skipped", "skipped", "skipped"]
