"""Suites in Python on the command line.

What is found, run, printed, and which code it exits with.
"""

from __future__ import annotations

import json
import subprocess
from textwrap import dedent

import pytest

from harness.types import UserMessage
from tests.end_to_end.harness_process import TIMEOUT_S, Finished, Project, plain_server
from tests.end_to_end.warm import warm_python
from tests.fake_provider import FakeProvider, Incoming, Step, call, calls, say

CAPITALS = f"""
    print("printed while it is imported")

    CAPITALS = {{"France": "Paris", "Italy": "Rome"}}

    def capital_of(country: str) -> str:
        \"\"\"Return the capital of a country.\"\"\"
        return CAPITALS[country]

    class Capitals:
        name = "capitals"
        asked = ["France", "Italy"]

        def default_tools(self):
            return [capital_of]

        def cases(self):
            return [
                {{"id": country, "input": f"What is the capital of {{country}}?",
                  "expected": CAPITALS.get(country)}}
                for country in self.asked
            ]

        def check(self, case, run):
            print("printed while it is judged")
            return case["expected"] in run.answer, "wrong capital"

    class Harder(Capitals):
        asked = ["France", "Atlantis"]

        def check(self, case, run):
            return case["id"] == "France"

    class Empty(Capitals):
        asked = []

    class Faulty(Capitals):
        server = {plain_server(protocol="legacy")!r}
        default_tools = None

        def check(self, case, run):
            raise ValueError("the check is wrong")
"""


def write(project: Project, path: str, text: str) -> None:
    target = project.folder / path
    target.parent.mkdir(exist_ok=True)
    target.write_text(dedent(text))


@pytest.fixture
def bench(project: Project) -> Project:
    write(project, "bench/capitals.py", CAPITALS)
    return project


@pytest.mark.slow
def test_a_suite_by_its_dotted_path_with_the_options_that_other_runners_have(
    bench: Project,
) -> None:
    arguments = (
        "--suite bench.capitals.Capitals --model lexical --report out.jsonl --concurrency "
        "8 --timeout 120000"
    )
    finished = bench.run("evals", *arguments.split())
    assert finished.code == 0, finished.stdout + finished.stderr
    assert "printed while" not in finished.stdout
    printed = " ".join(finished.stdout.split())
    for words in (
        "capitals", "model lexical", "2 planned: 2 passed", "pass rate 100 %", "latency", (" "
        "average, "), " total",
        "tokens 0 in, 0 out", "cost $0.00", "report out.jsonl",
    ):  # fmt: skip
        assert words in printed
    lines = [json.loads(line) for line in (bench.folder / "out.jsonl").read_text().splitlines()]
    assert [(line["suite"], line["case_id"], line["pass"]) for line in lines] == [
        ("capitals", "France", True),
        ("capitals", "Italy", True),
    ]
    transcript = bench.log().read_transcript(bench.log().results[0].key)
    assert transcript is not None
    assert [(made.tool, made.outcome) for made in transcript.tool_calls] == [("capital_of", "ok")]


@pytest.mark.slow
def test_what_a_suite_prints_does_not_spoil_the_json_document(bench: Project) -> None:
    finished = bench.run("evals", "bench.capitals:Capitals", "--json-output")
    assert finished.document["result"]["all_passed"] is True
    assert "printed while it is judged" in finished.stderr
    graded = bench.run("grade", "latest", "--json-output")
    assert (graded.code, graded.document["result"]["all_passed"]) == (0, True)


@pytest.mark.parametrize(
    ("suite", "code", "words"),
    [
        ("bench.capitals.Harder", 1, "The suite's check returned False."),
        ("bench.capitals.Empty", 2, "the suite capitals has no cases"),
        ("bench/capitals.py:Faulty", 4, "ValueError: the check is wrong"),
        (
            "bench.broken:Suite",
            3,
            "bench/broken.py:1: ModuleNotFoundError: No module named 'no_such_package'",
        ),
    ],
)
def test_exit_codes_tell_what_came_of_it(bench: Project, suite: str, code: int, words: str) -> None:
    write(bench, "bench/broken.py", "import no_such_package\n")
    finished = bench.run("evals", "--suite", suite, "--model", "lexical")
    assert finished.code == code, finished.stdout + finished.stderr
    assert words in " ".join((finished.stdout + finished.stderr).split())
    assert "Traceback" not in finished.stdout + finished.stderr


@pytest.mark.slow
def test_a_run_is_graded_by_the_check_as_it_is_today(bench: Project) -> None:
    assert bench.run("evals", "bench.capitals:Capitals").code == 0
    write(bench, "bench/capitals.py", CAPITALS.replace('in run.answer, "wrong', 'in "", "wrong'))
    finished = bench.run("grade", "latest")
    assert finished.code == 1
    assert "wrong capital" in finished.stdout


@pytest.mark.slow
def test_a_resumed_run_finds_the_suite_again(bench: Project) -> None:
    assert bench.run("evals", "bench.capitals:Faulty").code == 4
    write(bench, "bench/capitals.py", CAPITALS)
    assert bench.run("evals", "--resume").code == 4
    write(bench, "bench/capitals.py", CAPITALS.replace("the check is wrong", "still wrong"))
    changed = bench.run("evals", "--resume")
    assert changed.code == 3
    assert "case France has changed" in changed.stderr


def test_a_script_runs_the_suite_that_it_holds_tools_included(project: Project) -> None:
    body = """
    if __name__ == "__main__":
        import harness

        report = harness.run(Capitals, model="lexical", report_path="out.jsonl")
        print("RATE", report.summary["pass_rate"], report.suite_name)
    """
    write(project, "script.py", dedent(CAPITALS) + dedent(body))
    finished = subprocess.run(
        [warm_python(), "script.py"],
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(project.folder)},
    )
    assert "RATE 1.0 capitals" in finished.stdout, finished.stderr
    assert project.run("grade", "latest").code == 0


# ── The built-in suite ───────────────────────────────────────────────────────────────────────


def able_model(request: Incoming) -> Step:
    """Answer the built-in suite as a capable model would."""
    words, results = str(request.body["messages"]), len(request.tool_results)
    if "19 and 23" in words:
        return (
            say("The sum is 42.") if results else call("add_numbers", {"first": 19, "second": 23})
        )
    if "Ada Lovelace" in words:
        steps = [
            call("find_customer", {"name": "Ada Lovelace"}),
            call("count_orders", {"customer_id": "CUST_0042"}),
        ]
        return steps[request.turn] if request.turn < 2 else say("She has 17 orders.")
    if "signal" in words:
        return calls(("wait_for_signal", {}), ("wait_for_signal", {}))
    if "Oslo" in words:
        if "Lima" not in words:
            return call("get_weather", {"city": "Oslo"})
        return (
            say("4 and 19 degrees.") if request.turn == 2 else call("get_weather", {"city": "Lima"})
        )
    return say("Hello!")


def deaf_model(request: Incoming) -> Step:
    """Answer at once, whatever is asked."""
    return say("Certainly.")


def run_internal(project: Project, model: object, *arguments: str) -> Finished:
    project.env["OPENAI_API_KEY"] = "test-key"
    with FakeProvider(model) as provider:  # type: ignore[arg-type]
        command = ("evals", "internal", "--model", "openai:gpt-4o", "--json-output", *arguments)
        finished = project.run(*command, OPENAI_BASE_URL=f"{provider.url}/v1")
        assert [request.rejected for request in provider.journal if request.rejected] == []
    return finished


@pytest.mark.slow
def test_the_kernel_is_whole_with_the_embedded_baseline(project: Project) -> None:
    finished = project.run("evals", "internal", "--json-output")
    assert {test["name"]: test["passed"] for test in finished.document["result"]["tests"]} == {
        "basic_text": True,
        "simple_tool_call": True,
        "multi_turn_reasoning": True,
        "steering_response": True,
        "abort_clean": True,
    }


@pytest.mark.slow
def test_the_kernel_is_whole_with_a_model_behind_an_api(project: Project) -> None:
    finished = run_internal(project, able_model)
    assert finished.code == 0, finished.stdout + finished.stderr


def test_a_model_that_does_nothing_is_no_proof_that_the_kernel_is_whole(project: Project) -> None:
    finished = run_internal(project, deaf_model, "-k", "steering* or abort*")
    failures = {
        test["name"]: test["failures"]
        for test in finished.document["result"]["tests"]
        if not test["passed"]
    }
    assert set(failures) == {"steering_response", "abort_clean"}
    assert "no call was under way that could be aborted" in str(failures["abort_clean"])


def test_a_suite_in_python_names_its_own_variants(bench: Project) -> None:
    text = """
        from bench.capitals import Capitals

        class Tried(Capitals):
            variants = {"curt": {"prompts": {"France": "France: capital?"}}}
    """
    write(bench, "bench/tried.py", text)
    finished = bench.run("evals", "bench.tried:Tried", "--variant", "none", "--variant", "curt")
    assert finished.code in {0, 1}, finished.stderr
    said = {
        run.entrant: message.text
        for run, transcript in bench.log()
        if transcript is not None and run.case.name == "France"
        for message in transcript.messages
        if isinstance(message, UserMessage)
    }
    assert said["lexical+curt"] == "France: capital?"
    assert said["lexical"] == "What is the capital of France?"
