"""``pytest evals/``: one test for each case, judged as harness judges, told in its words."""

from __future__ import annotations

import signal
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from harness.reports.build import build_report
from harness.reports.querying.index import STORE, has_current_page
from tests.end_to_end.harness_process import Finished, Project, finish, plain_server
from tests.fake_provider import FakeProvider, call, say, stall, status
from tests.often import often
from tests.pytest_plugin.sessions import logs, outcomes, run, start
from tests.sessions.servers import alive, all_gone

POLICED_SERVER = Path(__file__).parents[1] / "end_to_end" / "policies" / "policed_server.py"
ECHO: dict[str, Any] = {"prompt": "Echo 'hello'.", "assertions": {"must_call": ["echo"]}}
CAPITALS = '''
CAPITALS = {"France": "Paris", "Italy": "Rome"}


def capital_of(country: str) -> str:
    """Return the capital of a country."""
    return CAPITALS[country]


class Capitals:
    name = "capitals"

    def default_tools(self):
        return [capital_of]

    def cases(self):
        for country, capital in CAPITALS.items():
            asked = f"What is the capital of {country}?"
            yield {"id": country, "input": asked, "expected": capital}

    def check(self, case, run):
        assert case["expected"] in run.answer


class Helper:
    name = "no suite"
'''
EXPECTED = {
    "evals/capitals.py::Capitals::France": "passed",
    "evals/capitals.py::Capitals::Italy": "passed",
    "evals/desk.yml::asks_too_much": "error",
    "evals/desk.yml::echoes": "passed",
    "evals/desk.yml::must_not_echo": "failed",
    "evals/gone.yml::has_no_server": "error",
    "evals/numbers.csv::1": "passed",
}


def suite(
    folder: Path, name: str, *tests: dict[str, Any], server: dict[str, Any] | None = None
) -> None:
    # Started once, and never again: a second start ends at once.
    once = plain_server("flaky", env={"STARTS": str(folder / f"starts-{name}"), "GOOD": "1"})
    Project(folder).suite(name, list(tests), server=server or once)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    suite(
        folder,
        "desk",
        {"name": "echoes", "tags": ["smoke"], **ECHO},
        {
            "name": "must_not_echo",
            "description": "Nothing may be repeated.",
            "trials": 2,
            **ECHO,
            "assertions": {"must_not_call": ["echo"], "answer_contains": ["zebra"]},
        },
        {
            "name": "asks_too_much",
            **ECHO,
            "assertions": {"must_call": [{"tool": "echo", "args": {"bogus": 1}}]},
        },
    )
    suite(
        folder,
        "gone",
        {"name": "has_no_server", **ECHO},
        server={"command": "/bin/false", "args": []},
    )
    (folder / "evals" / "capitals.py").write_text(CAPITALS)
    (folder / "evals" / "numbers.csv").write_text(
        "test_id,query,expected_tool,expected_args,expected_response_contains\n1,Echo "
        'it.,echo,{},""\n'
    )
    Project(folder).configure(servers={"numbers": plain_server()})
    # Files of other tools, below evals too, cost nobody's tests anything.
    (folder / "compose.yml").write_text("services: {}\n")
    (folder / "evals" / "promptfoo.yaml").write_text("prompts: [x]\ntests:\n  - vars: {a: b}\n")
    (folder / "evals" / "prompts.csv").write_text("prompt,expected\nHello,Hi\n")
    (folder / "evals" / "samples.jsonl").write_text('{"input": [], "ideal": "x"}\n')
    (folder / "evals" / "bench.py").write_text(
        "class Bench:\n    name = 'x'\n    cases = [1]\n\n\nraise SystemExit\n"
    )
    (folder / "helm_test.yaml").write_text("suite: deployment\ntests:\n  - it: works\n")
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Finished:
    return run(folder, "-rA", "--tb=short")


def test_every_case_is_a_test_and_ends_as_harness_says(session: Finished) -> None:
    assert outcomes(session) == EXPECTED, session.stdout + session.stderr
    assert session.code == 1


def test_a_failure_is_told_in_the_words_of_harness_and_without_a_traceback(
    session: Finished,
) -> None:
    for words in (
        "✗ must_not_call echo  (evals/desk.yml:",
        "    Tool was called although it must not be: echo(",
        '✗ answer_contains "zebra"  (evals/desk.yml:',
        "    → Say in the description of echo when it is not to be used",
        "Nothing may be repeated.",
        "model lexical · 0 of 2 trials passed, 2 needed",
    ):
        assert words in session.stdout
    assert "Traceback" not in session.stdout
    assert "bench.py" not in session.stdout


def test_an_error_says_what_stands_in_the_way_of_a_verdict(session: Finished) -> None:
    assert "ERROR at setup of has_no_server" in session.stdout
    assert "server error: server 'gone' exited with code 1 while starting" in session.stdout
    assert "the tool 'echo' has no argument 'bogus'." in session.stdout


def test_one_run_log_holds_every_trial_and_harness_can_show_it(
    session: Finished, folder: Path
) -> None:
    (log,) = [log for log in logs(folder) if "capitals" in log.header.suites][:1]
    assert f"log .harness/runs/{log.header.run_id}/log.jsonl" in session.stdout
    assert f"harness view {log.header.run_id}" in session.stdout
    assert sorted((entry.case.name, entry.status) for entry in log.results) == [
        ("1", "passed"),
        ("France", "passed"),
        ("Italy", "passed"),
        ("asks_too_much", "error"),
        ("echoes", "passed"),
        ("has_no_server", "error"),
        ("must_not_echo", "failed"),
        ("must_not_echo", "failed"),
    ]
    assert log.footer is not None
    assert log.header.planned == len(log.results)
    assert has_current_page(log.path.with_name(STORE), log.path)


def test_a_server_is_started_once_for_all_its_cases(session: Finished, folder: Path) -> None:
    assert session.code == 1
    assert (folder / "starts-desk").read_text() == "x"


def test_it_says_who_answered_and_how_to_name_another_one(session: Finished) -> None:
    assert (
        "the built-in baseline 'lexical' answers. It is not an LLM; name one with --harness-model"
        in session.stdout
    )
    assert "8 planned: 4 passed, 2 failed, 2 error" in session.stdout


def test_failures_and_errors_alone_are_run_again(session: Finished, folder: Path) -> None:
    (folder / "starts-desk").unlink()
    again = run(folder, "-rA", "--lf", "-k", "desk or gone")
    expected = {name: end for name, end in EXPECTED.items() if end in {"failed", "error"}}
    assert outcomes(again) == expected, again.stdout


@pytest.mark.slow
def test_side_by_side_each_case_is_run_once_and_the_log_is_one(tmp_path: Path) -> None:
    cases = [{"name": f"case_{number}", **ECHO} for number in range(6)]
    suite(tmp_path, "many", *cases, server=plain_server())
    finished = run(tmp_path, "-rA", "-n", "2", "-x", plugins=["xdist.plugin"])
    assert outcomes(finished) == {
        f"evals/many.yml::case_{number}": "passed" for number in range(6)
    }, finished.stderr
    (log,) = logs(tmp_path)
    assert [
        entry.case.name for entry in sorted(log.results, key=lambda entry: entry.case.name)
    ] == [one["name"] for one in cases]
    assert f"harness view {log.header.run_id}" in finished.stdout
    assert sorted(path.name for path in log.path.parent.iterdir()) == ["log.jsonl", STORE]
    assert finished.code == 0


def test_a_secret_of_the_server_is_neither_shown_nor_kept(tmp_path: Path) -> None:
    secret = "hunter2-hunter2-hunter2"
    asks = {"name": "asks", "prompt": "Show the environment."}
    wrong = {"must_call": ["environment"], "answer_contains": ["Api token: hunter3"]}
    suite(
        tmp_path,
        "desk",
        {**asks, "assertions": wrong},
        server=plain_server(env={"API_TOKEN": secret, "PATH": "/usr/bin"}),
    )
    finished = run(tmp_path, "-rA")
    assert outcomes(finished) == {"evals/desk.yml::asks": "failed"}
    assert "[redacted]" in finished.stdout
    assert secret not in finished.stdout + finished.stderr
    assert all(secret not in path.read_text() for path in (tmp_path / ".harness").rglob("*.jsonl"))


def test_the_first_failure_ends_the_session_and_a_tag_picks_cases(tmp_path: Path) -> None:
    failing = {"prompt": "Echo it.", "assertions": {"must_not_call": ["echo"]}}
    names = ("first", "second", "third")
    suite(tmp_path, "desk", *({"name": name, "tags": [f"tag_{name}"], **failing} for name in names))
    finished = run(tmp_path, "-rA", "-x", "-k", "tag_first or tag_third", "evals")
    assert outcomes(finished) == {"evals/desk.yml::first": "failed"}, finished.stdout
    (log,) = logs(tmp_path)
    assert log.footer is not None
    assert log.footer.reason == "fail-fast"
    assert [(entry.case.name, entry.status) for entry in log.results] == [
        ("first", "failed"),
        ("third", "skipped"),
    ]


def test_a_case_that_the_budget_forbids_is_skipped_and_the_session_does_not_pass(
    tmp_path: Path,
) -> None:
    suite(tmp_path, "desk", {"name": "first", **ECHO}, {"name": "second", **ECHO})
    (tmp_path / "pytest.ini").write_text("[pytest]\nharness_max_cost = 0\nharness_trials = 2\n")
    finished = run(tmp_path, "-rA", "evals/desk.yml::second", "evals/desk.yml::first")
    assert "1 passed, 1 skipped" in finished.stdout
    assert "not run: the budget is used up" in finished.stdout
    assert "not run: 1 case (budget); the exit code says so" in finished.stdout
    assert finished.code == 1


RECORD = {"name": "record", "prompt": "Show the record of person P-1007."}
TEAM = {"name": "team", "prompt": "List all members of the team blue."}


def people(folder: Path, fault: str, tests: list[dict[str, Any]], asked_as: list[str]) -> None:
    """Write a suite about a server with that fault, each test of which these identities ask."""
    server = {"command": sys.executable, "args": [str(POLICED_SERVER), fault], "protocol": "legacy"}
    Project(folder).suite(
        "people",
        tests,
        server=server,
        identities={"admin": {"role": "admin"}, "clerk": {"role": "clerk"}},
        defaults={"as": asked_as},
    )


@pytest.mark.parametrize("asked_as", often([["admin", "clerk"], ["clerk", "admin"]]))
def test_the_test_that_leaks_is_the_one_that_fails_whoever_asks_first(
    tmp_path: Path, asked_as: list[str]
) -> None:
    people(tmp_path, "structured", [RECORD, TEAM], asked_as)
    finished = run(tmp_path, "-rA", "-k", "record")
    assert "FAILED evals/people.yml::record [clerk]" in finished.stdout, finished.stdout
    assert "Leak: salary (6…), which admin may see" in finished.stdout
    assert "1 failed, 1 passed" in finished.stdout
    assert "the other cases show it" not in finished.stdout
    assert finished.code == 1


def test_a_leak_that_another_test_shows_fails_the_leaking_test_once_that_is_known(
    tmp_path: Path,
) -> None:
    people(tmp_path, "forgetful", [RECORD, TEAM], ["admin", "clerk"])
    finished = run(tmp_path)
    assert "FAILED evals/people.yml::team [clerk]" in finished.stdout, finished.stdout
    assert "1 failed, 3 passed" in finished.stdout
    assert "the other cases show it" not in finished.stdout
    assert finished.code == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 0, 2])
def test_what_only_later_tests_show_is_told_in_the_end_and_decides(
    tmp_path: Path, workers: int
) -> None:
    people(tmp_path, "forgetful", [TEAM, RECORD], ["admin", "clerk"])
    spread = (["-n", str(workers)], ["xdist.plugin"]) if workers else ([], [])
    finished = run(tmp_path, *spread[0], plugins=spread[1])
    assert "4 passed" in finished.stdout, finished.stdout
    assert "FAILED evals/people.yml:" in finished.stdout
    assert "team [clerk]: the other cases show it\n✗ no_leak" in finished.stdout
    assert "4 planned: 3 passed, 1 failed" in finished.stdout
    assert finished.code == 1


def test_a_suite_with_mistakes_is_an_error_with_its_line(tmp_path: Path) -> None:
    suite(tmp_path, "good", {"name": "a", **ECHO})
    suite(
        tmp_path, "bad", {"name": "a", "promt": "Echo it.", "assertions": {"must_call": ["echo"]}}
    )
    (tmp_path / "evals" / "twin.yml").write_text((tmp_path / "evals" / "good.yml").read_text())
    finished = run(tmp_path, "--collect-only", "-q")
    assert finished.code == 2
    assert "evals/bad.yml:12:3: unknown key 'promt' in test 'a'." in finished.stdout, (
        finished.stdout
    )
    assert "suite 'good' is defined twice; first at evals/good.yml:1:8." in finished.stdout
    assert "evals/good.yml::a" in finished.stdout
    assert "Traceback" not in finished.stdout
    planned = run(tmp_path, "--setup-plan", "evals/good.yml")
    assert planned.code == 0, planned.stdout
    assert logs(tmp_path) == []  # nothing was asked of any model


def test_an_option_that_cannot_be_read_ends_it_before_anything_is_collected(tmp_path: Path) -> None:
    finished = run(tmp_path, "--harness-trials", "0")
    assert finished.code == 4
    assert "--harness-trials: expected a whole number from 1 to 1000" in finished.stderr


@pytest.mark.slow
@pytest.mark.timeout(240)  # whole processes, one after the other
def test_an_interrupt_ends_the_trial_and_its_server_and_the_log_is_whole(tmp_path: Path) -> None:
    marker = f"marker-{uuid.uuid4().hex}"
    server = plain_server()
    suite(
        tmp_path,
        "slow",
        {"name": "waits", **ECHO},
        server={**server, "args": [*server["args"], marker]},
    )
    with FakeProvider([call("echo", {}), stall()]) as provider:
        model = {"type": "openai", "api_key": "test-key", "base_url": f"{provider.url}/v1"}
        Project(tmp_path).configure(models={"models": {"slow": model}})
        process = start(tmp_path, "--harness-model", "slow")
        provider.wait_for_requests(2, timeout_s=60)
        assert alive(marker)
        process.send_signal(signal.SIGINT)
        finished = finish(process)
    assert finished.code == 2, finished.stdout + finished.stderr
    assert all_gone(marker)
    (log,) = logs(tmp_path)
    assert log.footer is not None
    assert (log.footer.reason, [entry.status for entry in log.results]) == (
        "interrupted",
        ["cancelled"],
    )
    assert log.results[0].tool_calls == 1  # what had happened is kept


REPEATING = '''
from _pytest.runner import runtestprotocol


def pytest_runtest_protocol(item, nextitem):
    """Repeat a test up to three times until it passes, and report the last time alone."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(3):
        item._initrequest() if hasattr(item, "_initrequest") else None
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
'''
"""What plugins do that repeat failing tests."""


def repeated(folder: Path, script: Any, *arguments: str) -> Finished:
    """Run a case with a model that follows ``script``, and repeat it while it fails."""
    suite(folder, "desk", {"name": "echoes", **ECHO})
    (folder / "repeating.py").write_text(REPEATING)
    with FakeProvider(script) as provider:
        model = {
            "type": "openai",
            "api_key": "test-key",
            "base_url": f"{provider.url}/v1",
            "input_price": 1.0,
            "output_price": 1.0,
            "max_retries": 0,
        }
        Project(folder).configure(models={"models": {"fickle": model}})
        return run(
            folder,
            "-rA",
            "--harness-model",
            "fickle",
            *arguments,
            plugins=("repeating",),
        )


def in_turn(*steps: Any) -> Any:
    """Answer each request with the next step, whatever is asked."""
    left = iter(steps)
    return lambda _: next(left)


@pytest.mark.slow
def test_each_verdict_of_a_repeated_test_is_in_the_log_with_its_cost(tmp_path: Path) -> None:
    script = in_turn(say("No."), say("No."), call("echo", {"text": "hello"}), say("hello"))
    finished = repeated(tmp_path, script)
    assert outcomes(finished) == {"evals/desk.yml::echoes": "passed"}
    (log,) = logs(tmp_path)
    assert [run.status for run in log.results] == ["failed", "failed", "passed"]
    report = build_report(log)
    counts = report.counts
    assert (counts.planned, counts.passed, counts.failed, counts.cancelled) == (3, 1, 2, 0)
    assert report.usage.tokens == sum(run.usage.tokens or 0 for run in log.results)
    assert "pass rate 33 % of 3 trials of 1 case" in finished.stdout


@pytest.mark.slow
def test_attempts_without_a_verdict_are_paid_for_and_no_failures(tmp_path: Path) -> None:
    script = in_turn(
        call("echo", {"text": "hello"}), status(401), call("echo", {"text": "hello"}), say("hello")
    )
    finished = repeated(tmp_path, script)
    assert outcomes(finished) == {"evals/desk.yml::echoes": "passed"}
    (log,) = logs(tmp_path)
    (result,) = log.results
    assert result.status == "passed"
    last = log.read_transcript(result.key)
    assert last is not None
    assert (result.usage.tokens or 0) > (last.usage.tokens or 0) > 0


def test_a_failure_stays_one_when_there_is_no_money_to_repeat_the_test(tmp_path: Path) -> None:
    finished = repeated(tmp_path, in_turn(say("No.")), "--harness-max-cost", "0.0000001")
    assert outcomes(finished) == {"evals/desk.yml::echoes": "failed"}
    assert finished.code == 1
    (log,) = logs(tmp_path)
    assert [run.status for run in log.results] == ["failed", "skipped", "skipped"][
        : len(log.results)
    ]


@pytest.mark.slow
def test_a_case_is_tried_no_more_often_than_it_takes(tmp_path: Path) -> None:
    never = {**ECHO, "assertions": {"answer_contains": ["no such words"]}}
    suite(tmp_path, "desk", {"name": "echoes", **ECHO}, {"name": "fails", **never})
    finished = run(tmp_path, "evals", "-rA", "--harness-trials", "2..4")
    assert outcomes(finished) == {
        "evals/desk.yml::echoes": "passed",
        "evals/desk.yml::fails": "failed",
    }
    (log,) = logs(tmp_path)
    ended = {
        name: [one.status for one in log.results if one.case.name == name]
        for name in ("echoes", "fails")
    }
    assert ended == {"echoes": ["passed"] * 4, "fails": ["failed"] * 2 + ["skipped"] * 2}


def test_an_option_that_pytest_cannot_have_says_what_does_it(tmp_path: Path) -> None:
    finished = run(tmp_path, "--harness-fail-fast")
    assert finished.code == 4
    assert "--harness-fail-fast: not possible here: -x of pytest does it" in finished.stderr
