"""Runs on a real Ray on this machine, beside the same runs in one process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from harness.runlog import TrialLine
from harness.runlog.folders import find_log
from harness.runlog.reader import read_lines
from tests.end_to_end.engines.families import Member, family, left_of, workers
from tests.end_to_end.harness_process import Project, findings, finish, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, held, say, slow, status
from tests.fake_provider.steps import Answer

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="/proc")]

KILLING = Path(__file__).with_name("killing_server.py")
SECRET = "planted-4f2a9c77e1b84d"
PATIENCE_S = 120.0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    # No fork of a warm process: what stands in the environment is looked at.
    return Project(tmp_path, {"PYTHONUNBUFFERED": "1", "KEY": "test-key"})


def set_up(
    project: Project,
    provider: FakeProvider,
    count: int,
    server: dict[str, Any] | None = None,
    **model: Any,
) -> None:
    entry = {
        "type": "openai",
        "model": "gpt-4o",
        "base_url": f"{provider.url}/v1",
        "api_key": "${KEY}",
        "max_retries": 0,
        "input_price": 1.0,
        "output_price": 1.0,
    }
    project.configure(models={"models": {"fake": {**entry, **model}}})
    tests = [
        {
            "name": f"case_{number}",
            "prompt": f"Question {number}.",
            "assertions": {"must_call": ["echo"]},
        }
        for number in range(count)
    ]
    project.suite(
        "shop", tests, server=server or plain_server(protocol="legacy"), model="fake", timeout=600
    )


def calls_echo(request: Incoming) -> Answer:
    return say("Done.") if request.turn else call("echo", {"said": request.prompt})


def lines_by_trial(project: Project) -> Counter[str]:
    path = find_log("latest", project.folder / ".harness" / "runs")
    lines = (line for _, _, line in read_lines(path) if isinstance(line, TrialLine))
    return Counter(line.run.case.name for line in lines)


def test_both_engines_find_the_same(project: Project) -> None:
    found = []
    for engine in ("process", "ray"):
        finished = project.run(
            "evals", "data_governance", "--model", "lexical", "--json-output", "--engine", engine
        )
        assert finished.code == 0, finished.stderr
        summary = finished.document["result"]["summary"]
        found.append((findings(project.log()), {**summary, "elapsed_ms": 0}))
    assert found[0][0] == found[1][0]
    assert found[0][1]["passed"] == found[1][1]["passed"] == 13


def test_a_worker_that_is_killed_loses_no_trial_and_doubles_none(project: Project) -> None:
    go_on = threading.Event()

    def script(request: Incoming) -> Step:
        return held(say("Done."), go_on) if request.turn else call("echo", {})

    with FakeProvider(script) as provider:
        set_up(project, provider, 8)
        process = project.start("evals", "shop", "--engine", "ray", "-c", "4", "--json-output")
        provider.wait_for_requests(8, PATIENCE_S)  # four trials are in their second turn
        os.kill(workers(process.pid)[0].pid, signal.SIGKILL)
        go_on.set()
        finished = finish(process)
        asked = len(provider.journal)
    assert finished.code == 0, finished.stderr
    assert re.search(r"A worker on node 127\.0\.0\.1 died; its trials run again\.", finished.stderr)
    assert finished.document["result"]["summary"]["passed"] == 8
    assert lines_by_trial(project) == {f"case_{number}": 1 for number in range(8)}
    assert asked == 16 + 4  # both turns of the two trials that were under way on it, once more


def test_a_trial_that_kills_three_workers_is_an_error_and_the_others_pass(project: Project) -> None:
    def script(request: Incoming) -> Step:
        tool = "kill" if "Question 2." in request.prompt else "echo"
        return say("Done.") if request.turn else call(tool, {})

    calls = project.folder / "calls"
    with FakeProvider(script) as provider:
        server = {"command": sys.executable, "args": [str(KILLING), str(calls)]}
        set_up(project, provider, 5, {**server, "protocol": "legacy"})
        finished = project.run("evals", "shop", "--engine", "ray", "-c", "4", "--json-output")
    assert finished.code == 4, finished.stderr
    tests = {test["name"]: test for test in finished.document["result"]["tests"]}
    assert Counter(test["status"] for test in tests.values()) == {"passed": 4, "error": 1}
    error = next(run.error for run in project.log().results if run.case.name == "case_2")
    assert error is not None
    assert error.kind == "harness"
    assert error.message.startswith("3 workers died while this trial was under way on them")
    assert Counter(calls.read_text().split())["kill"] == 3
    assert set(lines_by_trial(project).values()) == {1}


def test_a_budget_is_overrun_by_what_is_under_way_at_most(project: Project) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, 20)
        finished = project.run(
            "evals", "shop", "--engine", "ray", "-c", "2", "--max-tokens", "1", "--json-output"
        )
        asked = len(provider.journal)
    assert finished.code == 4, finished.stderr
    summary = finished.document["result"]["summary"]
    assert 1 <= summary["passed"] <= 2
    assert summary["passed"] + summary["skipped"] == 20
    assert asked == 2 * summary["passed"]
    assert "budget of 1 tokens" in finished.stderr


def test_a_pause_that_the_provider_asks_for_holds_for_all_workers(project: Project) -> None:
    refused = threading.Event()

    def script(request: Incoming) -> Step:
        if not refused.is_set() and "Question 1." in request.prompt:
            refused.set()
            return status(429, {"retry-after": "3"})
        # The other worker's request is under way when the pause begins.
        return slow(calls_echo(request), 0.0 if request.turn else 0.5)

    with FakeProvider(script) as provider:
        set_up(project, provider, 6, max_retries=3)
        finished = project.run("evals", "shop", "--engine", "ray", "-c", "2", "--json-output")
        journal = provider.journal
    assert finished.code == 0, finished.stderr
    assert "2 workers" in finished.stderr
    first = next(one for one in journal if "Question 1." in one.prompt)
    before = [one for one in journal if one.received_at < first.received_at + 0.5]
    after = [one for one in journal if one not in before]
    assert all(one.received_at >= first.received_at + 3 for one in after)
    assert after[0].in_flight == after[1].in_flight == 1  # the limit was halved, for both


def test_a_secret_is_in_no_file_environment_or_title_of_ray(project: Project) -> None:
    go_on = threading.Event()
    kept: list[str] = []

    def script(request: Incoming) -> Step:
        return held(say("Done."), go_on) if request.turn else call("echo", {})

    with FakeProvider(script, require_key=SECRET) as provider:
        server = plain_server(protocol="legacy", env={"SHOP_TOKEN": SECRET})
        set_up(project, provider, 4, server)
        process = project.start("evals", "shop", "--engine", "ray", "-c", "2", KEY=SECRET)
        provider.wait_for_requests(4, PATIENCE_S)
        ours = family(process.pid)
        kept += [one.title for one in ours if SECRET in one.title]
        for one in ours:
            if not is_server(one):
                kept += [one.title] if SECRET in environment_of(one) else []
        (folder,) = {
            Path(found[0])
            for one in ours
            if (found := re.search(r"/\S*/harness-ray-\w+", one.title))
        }
        go_on.set()
        files = [path for path in folder.rglob("*") if path.is_file()]
        kept += [str(path) for path in files if SECRET.encode() in path.read_bytes()]
        finished = finish(process)
    assert finished.code == 0, finished.stderr
    assert len(files) > 10
    assert kept == []
    assert not folder.exists()
    assert SECRET not in finished.stdout + finished.stderr
    assert SECRET not in project.log().path.read_text()


def is_server(member: Member) -> bool:
    return "bad_server.py" in member.title


def environment_of(member: Member) -> str:
    return Path(f"/proc/{member.pid}/environ").read_bytes().decode(errors="replace")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_ray_outlives_the_run(project: Project, number: signal.Signals) -> None:
    go_on = threading.Event()

    def script(request: Incoming) -> Step:
        return held(say("Done."), go_on) if request.turn else call("echo", {})

    with FakeProvider(script) as provider:
        set_up(project, provider, 8)
        process = project.start("evals", "shop", "--engine", "ray", "-c", "2", "--json-output")
        provider.wait_for_requests(4, PATIENCE_S)
        ours = family(process.pid)
        assert len(workers(process.pid)) == 2
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.communicate(timeout=PATIENCE_S)
        else:
            assert process.stderr is not None
            while "interrupt again" not in process.stderr.readline():
                pass
            go_on.set()
            finished = finish(process)
            assert finished.code == 130
            summary = finished.document["result"]["summary"]
            assert (summary["passed"], summary["skipped"]) == (2, 6)
        # Ray's own agents try to report the end to a head that is gone, for a minute.
        assert left_of([one for one in ours if "Agent" not in one.title]) == []
        assert left_of(ours, within_s=PATIENCE_S) == []
    assert (project.log().footer is None) == (number == signal.SIGKILL)


@pytest.mark.parametrize(("first", "then"), [("ray", "process"), ("process", "ray")])
def test_a_run_of_one_engine_is_resumed_by_the_other(
    project: Project, first: str, then: str
) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, 6)
        whole = project.run("evals", "shop", "--engine", first, "-c", "2")
        assert whole.code == 0, whole.stderr
        expected = findings(project.log())
        path = project.log().path
        *kept, _, _, _footer = path.read_text().splitlines(keepends=True)
        path.write_text("".join(kept))
        asked = len(provider.journal)
        resumed = project.run("evals", "--resume", "--engine", then)
        assert resumed.code == 0, resumed.stderr
        assert len(provider.journal) == asked + 4  # two trials of two turns
    assert findings(project.log()) == expected


def test_a_cancelled_trial_is_told_as_such(project: Project) -> None:
    with FakeProvider(lambda request: slow(calls_echo(request), 600.0 * request.turn)) as provider:
        set_up(project, provider, 2)
        process = project.start(
            "evals", "shop", "--engine", "ray", "-c", "2", "--grace", "0", "--json-output"
        )
        provider.wait_for_requests(4, PATIENCE_S)
        process.send_signal(signal.SIGINT)
        finished = finish(process)
    assert finished.code == 130, finished.stderr
    log = project.log()
    assert [run.status for run in log.results] == ["cancelled"] * 2
    assert [run.tool_calls for run in log.results] == [1, 1]


@contextmanager
def two_nodes(**env: str) -> Iterator[str]:
    """Have a cluster of two nodes with one processor each, and yield its address."""
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", **env}
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("two_nodes.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as cluster:
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        yield cluster.stdout.readline().strip()
        cluster.stdin.close()
        cluster.wait(PATIENCE_S)


def test_trials_run_on_all_nodes_of_a_cluster(project: Project) -> None:
    with two_nodes() as address, FakeProvider(calls_echo) as provider:
        set_up(project, provider, 6)
        engine = f"ray:{address}"
        finished = project.run(
            "evals", "shop", "--engine", engine, "-c", "2", RAY_AUTH_MODE="disabled"
        )
    assert finished.code == 0, finished.stderr
    assert "Ray: 2 workers on 2 nodes." in finished.stderr


def test_a_node_with_another_version_is_refused_before_the_first_trial(
    project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "mcp-1.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.0\n")
    with two_nodes(PYTHONPATH=str(other.parent)) as address, FakeProvider(calls_echo) as provider:
        set_up(project, provider, 2)
        engine = f"ray:{address}"
        finished = project.run("evals", "shop", "--engine", engine, RAY_AUTH_MODE="disabled")
        asked = len(provider.journal)
    assert (finished.code, asked) == (3, 0)
    assert "would run these trials otherwise than this machine:" in finished.stderr
    assert f"  - mcp is 1.0, and here it is {version('mcp')}" in finished.stderr
    assert not list((project.folder / ".harness" / "runs").glob("*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "true"], "--agent cannot be combined with --engine ray"),
        (["--engine", "ray:127.0.0.1:1"], "the Ray cluster 127.0.0.1:1 cannot be joined"),
    ],
)
def test_what_cannot_run_on_ray_is_refused_in_words(
    project: Project, arguments: list[str], words: str
) -> None:
    with FakeProvider(calls_echo) as provider:
        set_up(project, provider, 1)
        finished = project.run("evals", "shop", "--engine", "ray", *arguments)
    assert finished.code == 3
    assert words in finished.stderr
    assert "Traceback" not in finished.stderr
