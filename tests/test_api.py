"""The API as a program uses it: real runs, of suites by name, class and instance."""

from __future__ import annotations

import dataclasses
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
from harness.base.errors import InvalidInput, NothingToRun, UsageError
from harness.reports.build import build_report
from harness.reports.querying.index import STORE, has_current_page
from harness.runlog import read_log
from harness.types import AssistantMessage, Report, UserMessage
from tests.end_to_end.harness_process import plain_server
from tests.fake_provider import FakeProvider, Incoming, call, say, status

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


def ask(
    provider: FakeProvider, suite: Any, more: dict[str, Any] | None = None, **settings: Any
) -> Report:
    opts = {
        "base_url": f"{provider.url}/v1",
        "api_key": "test-key",
        "input_price": 1,
        "output_price": 1,
    }
    return harness.run(
        suite=suite, model="openai:gpt-4o", provider_opts={**opts, **(more or {})}, **settings
    )


def test_a_class_is_run_and_the_report_has_the_shape_that_other_runners_know(
    project: Path,
) -> None:
    with FakeProvider(knows) as provider:
        report = ask(
            provider, Capitals, report_path="out/report.jsonl", concurrency=2, timeout_ms=30_000
        )
    assert (report.suite_name, report.model, report.report_path) == (
        "capitals",
        "openai:gpt-4o",
        "out/report.jsonl",
    )
    assert report.started_at < (report.completed_at or "")
    summary = report.summary
    assert (summary["total"], summary["pass"], summary["fail"], summary["error"]) == (3, 1, 1, 1)
    assert summary["pass_rate"] == 0.5
    assert summary["avg_latency_ms"] == pytest.approx(summary["total_latency_ms"] / 3, abs=0.01)
    assert summary["total_tokens_in"] > 0
    assert summary["total_tokens_out"] > 0
    assert summary["total_cost_usd"] > 0
    assert [(run.case.name, run.status) for run in report.results] == [
        ("fr", "passed"),
        ("it", "failed"),
        ("xx", "error"),
    ]
    failure = report.results[2].error
    assert failure is not None
    assert failure.kind == "harness"
    assert "check of suite capitals raised an error: " in failure.message
    assert "LookupError: nobody knows" in failure.message

    lines = [
        json.loads(line) for line in (project / "out" / "report.jsonl").read_text().splitlines()
    ]
    assert [(line["case_id"], line["pass"]) for line in lines] == [
        ("fr", True),
        ("it", False),
        ("xx", False),
    ]
    assert set(lines[1]) == {
        "suite", "case_id", "model", "pass", "latency_ms", "tokens_in", "tokens_out", "cost_usd",
        "events_digest", "error", "timestamp", "metadata",
    }  # fmt: skip
    assert lines[1]["metadata"]["category"] == "smoke"


def test_options_of_the_program_reach_the_provider_and_no_secret_reaches_the_log(
    project: Path,
) -> None:
    with FakeProvider(knows) as provider:
        report = ask(
            provider,
            Capitals,
            {"temperature": 0.5, "max_tokens": 99, "headers": {"x-a": "b"}},
            pattern="fr",
        )
        (request,) = provider.journal
    assert (request.body["temperature"], request.body["max_tokens"]) == (0.5, 99)
    assert request.headers["x-a"] == "b"
    assert "test-key" not in Path(report.log).read_text()
    log = Path(report.log)
    assert build_report(read_log(log)) == report
    assert has_current_page(log.with_name(STORE), log)


def test_an_instance_keeps_what_it_was_made_with() -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, [Asked("Where?"), Capitals()], pattern="one or fr")
    assert [(run.suite, run.status) for run in report.results] == [
        ("asked", "passed"),
        ("capitals", "passed"),
    ]


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
        ({"body": object()}, "model 'openai:gpt-4o': body: a object is not JSON"),
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
            return [
                {"id": "a", "input": "Hello", "assertions": {"answer_judge": {"rubric": "polite"}}}
            ]

    with (
        FakeProvider([status(400)]) as provider,
        pytest.raises(UsageError, match=r"OPENAI_API_KEY|key"),
    ):
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
        report = ask(provider, Capitals, trials="2..5")
    ended = {case.case: [run.status for run in case.trials] for case in report.cases}
    assert ended["fr"] == ["passed"] * 5
    assert ended["it"] == ["failed", "failed", "skipped", "skipped", "skipped"]


# ── The same bounds as on the command line ───────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"timeout_ms": -1}, "timeout_ms: expected a number of at least 1, found -1"),
        ({"timeout_ms": 0}, "timeout_ms: expected a number of at least 1, found 0"),
        ({"timeout_ms": float("nan")}, "timeout_ms: expected a number of at least 1, found nan"),
        ({"timeout_ms": "1000"}, "timeout_ms: expected a number of at least 1, found '1000'"),
        ({"concurrency": 0}, "concurrency: expected a whole number from 1 to 100000, found 0"),
        (
            {"concurrency": 1001},
            "concurrency: one process runs at most 1000 trials at the same time, found 1001",
        ),
        (
            {"concurrency": True},
            "concurrency: expected a whole number from 1 to 100000, found True",
        ),
        (
            {"trials": 0},
            "trials: expected a whole number from 1 to 1000, or a range such as 3..10, found 0",
        ),
        ({"trials": "3..2"}, "or a range such as 3..10, found '3..2'"),
        ({"max_cost": -1}, "max_cost: expected a number of at least 0, found -1"),
        ({"max_cost": float("inf")}, "max_cost: expected a number of at least 0, found inf"),
        ({"max_tokens": 0}, "max_tokens: expected a whole number of at least 1, found 0"),
        (
            {"user_context": "admin"},
            "user_context: expected a JSON object such as {'role': 'admin'}, found",
        ),
        ({"mcp_config": "nowhere.json"}, "nowhere.json: there is no such file."),
        ({"block": [1]}, "block: expected a text, or a list of texts, found [1]"),
        (
            {"block": {"echo": True}},
            "block: expected a text, or a list of texts, found {'echo': True}",
        ),
        ({"server": 5}, "server: expected a text, or a list of texts, found 5"),
        ({"read_only": "no"}, "read_only: expected True or False, found 'no'"),
        ({"pattern": 7}, "pattern: expected a text, found 7"),
        ({"judge_model": ["a"]}, "judge_model: expected a text, found ['a']"),
        ({"user_model": 1}, "user_model: expected a text, found 1"),
    ],
)
def test_values_that_no_run_can_have_are_refused_before_anything_starts(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        harness.run(Capitals, model="lexical", **settings)
    assert words in str(caught.value)
    assert not Path(".harness").exists()


def test_a_model_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match=r"model: expected a text, or a list of texts, found 5"):
        harness.run(Capitals, model=5)  # type: ignore[arg-type]


def test_a_budget_ends_a_run_of_the_api_too() -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Capitals, concurrency=1, max_tokens=1)
    assert (report.reason, [run.status for run in report.results]) == (
        "budget",
        ["passed", "skipped", "skipped"],
    )
    with FakeProvider(knows) as provider:
        report = ask(provider, Priced, concurrency=1, max_cost=0.5)
    assert (report.reason, report.usage.cost_usd) == ("budget", 1.0)


@pytest.mark.parametrize(
    ("guard", "tool"),
    [({"block": "echo"}, "echo"), ({"block": ["echo"]}, "echo"), ({"read_only": True}, "rows")],
)
def test_guards_of_the_api_send_no_call(guard: dict[str, Any], tool: str) -> None:
    with FakeProvider([call(tool, {}), say("done")]) as provider:
        report = ask(provider, Asked("Do it."), **guard)
    transcript = report.results[0].transcript
    assert transcript is not None
    assert [made.outcome for made in transcript.tool_calls] == ["blocked"]


def test_servers_of_a_clients_configuration_can_be_used(project: Path) -> None:
    server = {"command": SERVER["command"], "args": SERVER["args"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"mine": server}}))
    report = harness.run(
        Capitals, model="lexical", server="mine", mcp_config=project / ".mcp.json", pattern="fr"
    )
    assert report.summary["total"] == 1


# ── What a result holds ──────────────────────────────────────────────────────────────────────


def test_results_hold_answer_and_messages_wherever_the_program_has_gone(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Capitals, report_path="out.jsonl")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert [run.answer for run in report.results] == [
        "It is Paris.",
        "I do not know.",
        "I do not know.",
    ]
    question, reply = report.cases[0].deciding_trial.messages
    assert isinstance(question, UserMessage)
    assert isinstance(reply, AssistantMessage)
    assert (question.text, reply.reply.text) == ("What is the capital of France?", "It is Paris.")


def test_what_was_never_started_has_no_answer_and_what_belongs_to_no_report_says_so() -> None:
    with FakeProvider(knows) as provider:
        report = ask(provider, Capitals, concurrency=1, max_tokens=1)
    assert (report.results[2].answer, report.results[2].messages, report.results[2].transcript) == (
        "",
        (),
        None,
    )
    lonely = harness.TrialResult(
        key="", suite="", case=harness.CaseFacts(name=""), model="", trial=1, status="skipped"
    )
    with pytest.raises(LookupError, match="does not belong to a report"):
        _ = lonely.answer
    assert dataclasses.replace(report.results[0]) == report.results[0]


def test_a_variant_is_given_as_an_object(project: Path) -> None:
    shuffled = harness.Variant(name="shuffled", order=7)
    report = harness.run("data_governance", variant=["none", shuffled], pattern="admin*")
    assert set(report.models) == {"lexical"}
    assert set(report.entrants) == {"lexical", "lexical+shuffled"}


@pytest.mark.parametrize("variant", [3, [None], {"name": "x"}])
def test_what_is_no_variant_is_refused(project: Path, variant: Any) -> None:
    with pytest.raises(harness.HarnessError, match="expected a name or a Variant"):
        harness.run("data_governance", variant=variant)
