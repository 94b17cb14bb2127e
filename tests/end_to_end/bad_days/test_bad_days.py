"""Interrupts, kills, budgets, resume, replay.

What a run does on a bad day, shown on real processes.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.runlog import read_log
from tests.clock import PATIENT_S
from tests.end_to_end.harness_process import Finished, Project, finish, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, held, say, stall, status
from tests.often import often
from tests.sessions.servers import all_gone

PATIENCE_S = 60.0


@pytest.fixture
def marker() -> Iterator[str]:
    """A word on the command line of every server of the test, none of which may outlive it."""
    word = f"marker-{uuid.uuid4().hex}"
    yield word
    assert all_gone(word)


def cases(count: int) -> list[dict[str, object]]:
    return [
        {
            "name": f"case_{number}",
            "prompt": f"Question {number}.",
            "assertions": {"must_call": ["echo"]},
        }
        for number in range(count)
    ]


def set_up(
    project: Project, provider: FakeProvider, marker: str, count: int, mode: str = "good"
) -> Path:
    project.env["KEY"] = "test-key"
    project.configure(
        models={
            "models": {
                "fake": {
                    "type": "openai",
                    "model": "gpt-4o",
                    "base_url": f"{provider.url}/v1",
                    "api_key": "${KEY}",
                    "max_retries": 0,
                    "input_price": 1.0,
                    "output_price": 1.0,
                }
            }
        }
    )
    server = plain_server(mode, protocol="legacy")
    server["args"] = ["-I", "-S", *server["args"], marker]
    return project.suite("shop", cases(count), server=server, model="fake")


def calls_echo(request: Incoming) -> Step:
    return say("Done.") if request.turn else call("echo", {"said": request.prompt})


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """Read stderr up to the line that matches, and return that line."""
    assert process.stderr is not None
    deadline = time.monotonic() + PATIENCE_S
    for line in process.stderr:
        if re.search(pattern, line):
            return line
        assert time.monotonic() < deadline
    raise AssertionError(f"stderr ended without {pattern!r}")


def last_words(project: Project, finished: Finished) -> None:
    """The last line that is shown after an interrupt is the command that goes on from there."""
    (run_id,) = [path.name for path in (project.folder / ".harness" / "runs").iterdir()]
    assert finished.stderr.splitlines()[-1] == f"Resume it with: harness evals --resume {run_id}"


# ── Interrupts ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", often([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_the_first_signal_lets_running_cases_finish_and_starts_no_other(
    project: Project, marker: str, number: signal.Signals
) -> None:
    def script(request: Incoming) -> Step:
        return held(say("Done."), heard) if request.turn else call("echo", {})

    heard = threading.Event()
    with FakeProvider(script) as provider:
        set_up(project, provider, marker, 6)
        process = project.start("evals", "shop", "--concurrency", "2", "--json-output")
        provider.wait_for_requests(4, timeout_s=PATIENCE_S)  # two cases are in their last turn
        process.send_signal(number)
        read_until(process, "interrupt again")
        heard.set()
        finished = finish(process)
        asked = len(provider.journal)
    assert finished.code == 130
    assert asked == 4
    summary = finished.document["result"]["summary"]
    assert (summary["passed"], summary["skipped"], summary["planned"]) == (2, 4, 6)
    footer = project.log().footer
    assert footer is not None
    assert footer.reason == "interrupted"
    last_words(project, finished)


def test_what_does_not_finish_within_the_grace_period_is_cancelled(
    project: Project, marker: str
) -> None:
    def script(request: Incoming) -> Step:
        return stall() if request.turn else call("echo", {})

    with FakeProvider(script) as provider:
        set_up(project, provider, marker, 3)
        process = project.start(
            "evals", "shop", "--concurrency", "1", "--grace", "0.1", "--report", "out.jsonl"
        )
        provider.wait_for_requests(2, timeout_s=PATIENCE_S)
        process.send_signal(signal.SIGINT)
        finished = finish(process)
    assert finished.code == 130
    assert "1 cancelled" in finished.stdout
    assert len((project.folder / "out.jsonl").read_text().splitlines()) == 3
    log = project.log()
    transcript = log.read_transcript(log.results[0].key)
    assert transcript is not None
    assert [made.tool for made in transcript.tool_calls] == ["echo"]  # what had happened is kept


def test_a_second_interrupt_ends_everything_at_once(project: Project, marker: str) -> None:
    with FakeProvider([stall()]) as provider:
        set_up(project, provider, marker, 3, mode="stubborn")
        process = project.start("evals", "shop", "--grace", str(PATIENT_S))
        provider.wait_for_requests(3, timeout_s=PATIENCE_S)
        process.send_signal(signal.SIGINT)
        read_until(process, "interrupt again")
        process.send_signal(signal.SIGINT)
        finished = finish(process)  # long before the grace period is over
    assert finished.code == 130
    assert project.log().footer is not None
    last_words(project, finished)


# ── kill -9 ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("acknowledged", often([3, 0, 1, 8]))
def test_kill_9_loses_no_acknowledged_result_and_leaves_no_process(
    project: Project, marker: str, acknowledged: int
) -> None:
    with FakeProvider(calls_echo, latency_s=0.01) as provider:
        set_up(project, provider, marker, 200, mode="stubborn")
        process = project.start("evals", "shop", "--concurrency", "3")
        if acknowledged:
            read_until(process, rf"^\[{acknowledged}/200\]")
        else:
            provider.wait_for_requests(1, timeout_s=PATIENCE_S)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
    log = project.log()
    assert len(log.results) >= acknowledged
    assert log.footer is None
    assert all(run.status == "passed" for run in log.results)
    assert all_gone(marker)


# ── Budgets ──────────────────────────────────────────────────────────────────────────────────


def test_a_budget_ends_the_run_cleanly_and_says_so(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, marker, 10)
        finished = project.run(
            "evals", "shop", "--max-tokens", "1", "--concurrency", "1", "--json-output"
        )
        asked = len(provider.journal)
    assert finished.code == 4
    result = finished.document["result"]
    assert (result["summary"]["passed"], result["summary"]["skipped"], asked) == (1, 9, 2)
    assert {test.get("skip_reason") for test in result["tests"]} == {None, "budget"}
    assert "budget of 1 tokens" in finished.stderr


def test_too_many_errors_end_the_run(project: Project, marker: str) -> None:
    with FakeProvider([status(400, body={"error": {"message": "no"}})]) as provider:
        set_up(project, provider, marker, 10)
        finished = project.run("evals", "shop", "--max-errors", "2", "--concurrency", "1")
        assert len(provider.journal) == 2
    assert finished.code == 4
    assert "2 error, 8 skipped" in finished.stdout


def test_a_dry_run_starts_nothing(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, marker, 10)
        finished = project.run("evals", "shop", "--dry-run", "--trials", "3")
        assert provider.journal == []
    assert finished.code == 0
    assert "10 cases, 30 trials" in finished.stdout
    assert "cost about $0.19" in finished.stdout
    assert not (project.folder / ".harness").exists()


# ── Resume, replay, grade, shards ────────────────────────────────────────────────────────────


def test_resume_runs_only_what_has_no_verdict_and_pays_for_nothing_twice(
    project: Project, marker: str
) -> None:
    healthy = False

    def script(request: Incoming) -> Step:
        if not healthy and "3" in request.prompt:
            return status(500, body={"error": {"message": "broken"}})
        return calls_echo(request)

    with FakeProvider(script) as provider:
        path = set_up(project, provider, marker, 6)
        path.write_text(
            path.read_text().replace(f"- {marker}", f"- {marker}\n  - --token=${{SHOP_TOKEN}}")
        )
        project.env["SHOP_TOKEN"] = (
            "hushhush-1"  # the log's header does not have it, and it is the same again
        )
        first = project.run("evals", "shop", "--trials", "2")
        assert first.code == 4
        asked = Counter(request.prompt for request in provider.journal)
        healthy = True
        spent = project.run("evals", "--resume", "--max-tokens", "10")
        assert spent.code == 4
        assert "the budget of 10 tokens is used up" in spent.stderr
        assert Counter(request.prompt for request in provider.journal) == asked
        second = project.run("evals", "--resume")
        asked_again = Counter(request.prompt for request in provider.journal) - asked
        another = project.run("evals", "--resume", SHOP_TOKEN="hushhush-2")
    assert second.code == 0, second.stdout + second.stderr
    assert another.code == 3
    assert "suite shop: case case_0 had another definition" in another.stderr
    assert "hushhush" not in project.log().path.read_text()
    assert asked_again == {"Question 3.": 4}  # two trials of two turns
    assert len(list((project.folder / ".harness" / "runs").iterdir())) == 1
    assert Counter(run.status for run in project.log().results) == {"passed": 12}


@pytest.mark.slow
def test_what_was_paid_before_a_resume_is_in_the_totals_of_every_output(
    project: Project, marker: str
) -> None:
    healthy = False

    def script(request: Incoming) -> Step:
        if not healthy and request.turn > 0:  # the first reply was paid for
            return status(500, body={"error": {"message": "broken"}})
        return calls_echo(request)

    with FakeProvider(script) as provider:
        set_up(project, provider, marker, 2)
        first = project.run("evals", "shop", "--json-output").document["result"]
        healthy = True
        second = project.run("evals", "--resume", "--json-output").document["result"]
        alone = project.run("evals", "shop", "--json-output").document["result"]
    assert first["summary"]["error"] == 2
    assert (second["summary"]["passed"], second["summary"]["planned"]) == (2, 2)
    for name in ("input_tokens", "output_tokens", "cost_usd"):
        paid = [found["usage"][name] for found in (first, second, alone)]
        assert paid[0] > 0
        assert paid[1] == pytest.approx(paid[0] + paid[2])
    asked = project.run("query", second["run_id"], "select cost_usd from trials", "--json-output")
    rows = asked.document["result"]["rows"]
    assert sum(row["cost_usd"] for row in rows) == pytest.approx(second["usage"]["cost_usd"])
    assert len(rows) == 2
    graded = project.run("grade", second["run_id"], "--json-output").document["result"]
    assert graded["usage"] == second["usage"]


def test_resume_after_kill_9_completes_the_run(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, marker, 40)
        process = project.start("evals", "shop", "--concurrency", "2")
        read_until(process, r"^\[5/40\]")
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
        path = next((project.folder / ".harness" / "runs").glob("*/log.jsonl"))
        path.write_bytes(path.read_bytes()[:-3])  # and the last line is torn
        kept = len(read_log(path).results)
        before = len(provider.journal)
        finished = project.run("evals", "--resume")
        assert len(provider.journal) - before == 2 * (40 - kept)
    assert finished.code == 0
    assert len(project.log().results) == 40


def test_resume_refuses_what_asks_something_else(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        path = set_up(project, provider, marker, 2)
        project.run("evals", "shop")
        path.write_text(path.read_text().replace("Question 1.", "Another question."))
        finished = project.run("evals", "--resume")
    assert finished.code == 3
    assert "suite shop: case case_1 has changed" in finished.stderr


def test_replay_asks_no_model_and_the_server_is_live(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, marker, 3)
        project.run("evals", "shop", "--trials", "2")
        asked = len(provider.journal)
        finished = project.run(
            "evals", "shop", "--model", "replay:latest", "--trials", "2", "--json-output"
        )
        assert len(provider.journal) == asked
    assert finished.code == 0, finished.stdout + finished.stderr
    assert finished.document["result"]["tests"][0]["details"]["tool_calls"][0]["outcome"] == "ok"


@pytest.mark.slow
def test_a_request_that_was_never_recorded_is_an_error_that_shows_the_nearest(
    project: Project, marker: str
) -> None:
    with FakeProvider(calls_echo) as provider:
        path = set_up(project, provider, marker, 1)
        project.run("evals", "shop")
    path.write_text(path.read_text().replace("Question 0.", "Question zero."))
    finished = project.run("evals", "shop", "--model", "replay:latest")
    assert finished.code == 4
    assert "never recorded" in finished.stdout
    assert "Question zero." in finished.stdout
    assert "Question 0." in finished.stdout


def test_grade_judges_a_recording_by_todays_assertions_without_model_and_server(
    project: Project, marker: str
) -> None:
    with FakeProvider(calls_echo) as provider:
        path = set_up(project, provider, marker, 2)
        assert project.run("evals", "shop").code == 0
    path.write_text(
        path.read_text().replace("- echo", "- {tool: echo, args: {said: Question 1.}}", 1)
    )
    finished = project.run("grade", "latest", "--json-output")
    assert finished.code == 1, finished.stderr
    tests = {test["name"]: test for test in finished.document["result"]["tests"]}
    assert not tests["case_0"]["passed"]
    assert "Tool called with unexpected arguments" in tests["case_0"]["failures"][0]
    assert tests["case_1"]["passed"]


def test_a_case_that_asks_something_else_now_is_not_graded(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        path = set_up(project, provider, marker, 2)
        project.run("evals", "shop")
    path.write_text(path.read_text().replace("Question 1.", "Another question."))
    finished = project.run("grade", "latest")
    assert finished.code == 4
    assert "the case has another prompt now" in finished.stdout


@pytest.mark.slow
def test_merged_shards_read_as_if_one_run_had_made_them(project: Project, marker: str) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, marker, 5)
        whole = project.run("evals", "shop", "--json-output").document["result"]
        shards = [
            project.run("evals", "shop", "--shard", f"{part}/2", "--json-output") for part in (1, 2)
        ]
        names = [shard.document["result"]["run_id"] for shard in shards]
        finished = project.run("merge", *names, "--json-output")
        partial = [
            project.run("merge", *some)
            for some in (names[:1], [names[0], names[0]], [*names, names[1]])
        ]
    merged = finished.document["result"]
    assert finished.code == 0
    assert [test["name"] for test in merged["tests"]] == [test["name"] for test in whole["tests"]]
    assert merged["summary"] == whole["summary"]
    for refused, words in zip(
        partial,
        (
            "of 2 shards 2/2 is missing",
            f"run {names[0]} is given twice",
            f"run {names[1]} is given twice",
        ),
        strict=True,
    ):
        assert refused.code == 3
        assert words in refused.stderr


# ── Guard rails ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("guard", "tool"), [(("--read-only",), "rows"), (("--block", "echo"), "echo")]
)
def test_a_blocked_call_is_never_sent_and_still_counts_as_the_models_choice(
    project: Project, marker: str, guard: tuple[str, ...], tool: str
) -> None:
    with FakeProvider([call(tool, {}), say("Done.")]) as provider:
        path = set_up(project, provider, marker, 1)
        path.write_text(
            path.read_text().replace("must_call", "must_not_call").replace("- echo", f"- {tool}")
        )
        finished = project.run("evals", "shop", *guard, "--json-output")
        told = json.dumps(provider.journal[-1].body)
    assert finished.code == 1
    (made,) = finished.document["result"]["tests"][0]["details"]["tool_calls"]
    assert made["outcome"] == "blocked"
    assert "harness" in told
