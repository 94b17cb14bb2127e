"""The third domain: both sides of a support call, on the data as published.

No recorded simulation of this domain is at hand: what decides a reward is tried with simulations in
which the gold actions are called. Which of them decide was found by the leaderboard's own
evaluation of the same calls: every one, but 7 of the 32 restarts of a phone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base import NothingToRun, UsageError
from harness.base.fetching.cache import CACHE_VARIABLE
from harness.leaderboards.tau2.checks import format_assertion_uri
from harness.leaderboards.tau2.data import read_split, read_tasks
from harness.leaderboards.tau2.result_files import read_results
from harness.leaderboards.tau2.suite import TAU2, Selection, parse_selection
from harness.runlog import RunLog
from servers.tau2_common.serving import answer
from servers.telecom.files import read_telecom
from servers.telecom.tools import BothSides
from tests.leaderboards.tau2.gold_runs import (
    build_simulation,
    build_solo_simulation,
    write_results,
)
from tests.leaderboards.tau2.running import run_recorded
from tests.leaderboards.tau2.support import fetched

RESTART = "reboot_device"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = fetched(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(root))
        yield root


def list_tasks(cache: Path) -> list[dict[str, Any]]:
    folder = cache / "tau2" / "telecom"
    base = read_split(folder, "base")
    return [one for one in json.loads((folder / "tasks.json").read_text()) if one["id"] in base]


def replay(cache: Path, folder: Path, variants: dict[str, tuple[dict[str, Any], Any]]) -> RunLog:
    """Return the log of one simulation for each name: a task, and the actions called in it."""
    tasks = [{**task, "id": name} for name, (task, _) in variants.items()]
    simulations = [
        build_simulation({**task, "id": name}, actions)
        for name, (task, actions) in variants.items()
    ]
    known = cache / "tau2" / "telecom"
    whole = {name: (known / name).read_text() for name in ("tasks.json", "split_tasks.json")}
    try:
        (known / "tasks.json").write_text(json.dumps(tasks))
        (known / "split_tasks.json").write_text(json.dumps({"base": list(variants)}))
        path = write_results(folder / "results.json", tasks, simulations)
        return run_recorded("telecom", path, folder, cache=cache)
    finally:
        for name, text in whole.items():
            (known / name).write_text(text)


def count_statuses(log: RunLog) -> Counter[str]:
    return Counter(result.status for result in log.results)


@pytest.mark.slow
def test_the_gold_actions_are_worth_1_in_every_task(cache: Path, tmp_path: Path) -> None:
    tasks = list_tasks(cache)
    gold = {task["id"]: (task, task["evaluation_criteria"]["actions"]) for task in tasks}
    log = replay(cache, tmp_path, gold)
    assert count_statuses(log) == {"passed": 114}
    transcripts = [log.read_transcript(result.key) for result in log.results]
    by_user = sum(len(one.user_calls) for one in transcripts if one is not None)
    by_agent = sum(len(one.tool_calls) for one in transcripts if one is not None)
    wanted = [action for _, actions in gold.values() for action in actions]
    assert by_user == sum(action["requestor"] == "user" for action in wanted)
    assert by_agent == sum(action["requestor"] == "assistant" for action in wanted)


@pytest.mark.slow
def test_a_gold_action_that_is_left_out_costs_the_reward(cache: Path, tmp_path: Path) -> None:
    without: dict[str, tuple[dict[str, Any], Any]] = {}
    for number, task in enumerate(list_tasks(cache)):
        actions = task["evaluation_criteria"]["actions"]
        for place, action in enumerate(actions):
            rest = actions[:place] + actions[place + 1 :]
            without[f"{number} {place} {action['name']}"] = (task, rest)
    log = replay(cache, tmp_path, without)
    passed = [result.case.name for result in log.results if result.status == "passed"]
    assert len(without) == len(log.results) == 516
    assert all(name.endswith(RESTART) for name in passed)
    assert len(passed) == 7
    assert count_statuses(log) == {"passed": 7, "failed": 509}


@pytest.mark.slow
def test_the_parts_of_a_domain_have_their_published_sizes(cache: Path) -> None:
    sizes = {
        "telecom": 114,
        "telecom:train": 74,
        "telecom:test": 40,
        "telecom:small": 20,
        "telecom:full": 2_285,
        "retail:test": 40,
        "retail": 114,
        "airline:train": 30,
    }
    for part, size in sizes.items():
        (suite,) = TAU2.suites(part)
        assert len(suite.cases) == size
        assert suite.reference == f"tau2:{part}"
    with pytest.raises(UsageError, match="telecom has no part 'tset'"):
        TAU2.suites("telecom:tset")


@pytest.mark.slow
def test_an_agent_without_a_customer_has_the_ticket_and_the_tools_of_both(cache: Path) -> None:
    (suite,) = TAU2.suites("telecom:solo:small")
    (dual,) = TAU2.suites("telecom:small")
    alone, together = suite.cases[0], dual.cases[0]
    assert alone.user is None
    assert alone.prompt.startswith("The user ")
    assert together.user is not None
    assert len(together.user.tools) == 30
    assert "toggle_roaming" in together.user.tools
    assert "escalate to a human agent" in (suite.system_prompt or "")
    assert "transferring the user" in (dual.system_prompt or "")
    assert alone.checks == together.checks


@pytest.mark.parametrize("named", ["telecom", "telecom:solo"])
@pytest.mark.slow
def test_a_recording_without_a_customer_is_known_by_its_file(
    cache: Path, tmp_path: Path, named: str
) -> None:
    tasks = list_tasks(cache)[:12]
    gold = [(task, task["evaluation_criteria"]["actions"]) for task in tasks]
    results = write_results(
        tmp_path / "results.json",
        tasks,
        [build_solo_simulation(task, actions) for task, actions in gold],
        user="dummy_user",
    )
    log = run_recorded(named, results, tmp_path, cache=cache)
    assert [run.status for run in log.results] == ["passed"] * len(tasks)


def test_a_selection_is_read_as_it_is_written() -> None:
    assert parse_selection("telecom:solo:test") == Selection("telecom", "test", solo=True)
    assert parse_selection("retail:train") == Selection("retail", "train")
    for text, message in {
        "retail:solo": "no tasks without a customer",
        "retail:train:test": "more than one part",
        "banking": "no domain 'banking'",
    }.items():
        with pytest.raises(UsageError, match=message):
            parse_selection(text)


def test_without_the_file_that_names_the_parts_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(NothingToRun, match="do not name the parts"):
        read_split(tmp_path, "test")


TASK: dict[str, Any] = {"id": "1", "user_scenario": {"instructions": "Call."}}
ACTIONS = [
    {"name": "toggle_data", "arguments": {}, "requestor": "user"},
    {"name": "get_customer_by_id", "arguments": {"customer_id": "C1"}, "requestor": "assistant"},
    {"name": "reboot_device", "arguments": {}, "requestor": "user"},
]


def test_the_calls_of_a_recorded_customer_are_read_apart(tmp_path: Path) -> None:
    path = write_results(tmp_path / "results.json", [TASK], [build_simulation(TASK, ACTIONS)])
    (simulation,) = read_results(path).simulations
    transcript = simulation.transcript
    assert [(call.tool, call.reply) for call in transcript.user_calls] == [
        ("toggle_data", 1),
        ("reboot_device", 3),
    ]
    asked = [one.tool for reply in transcript.all_replies for one in reply.tool_requests]
    assert asked == ["get_customer_by_id"]
    assert transcript.replies == 4


@pytest.mark.slow
def test_the_gold_actions_are_worth_1_in_all_2285_tasks(cache: Path) -> None:
    """In this process, since 2,285 conversations over wires take minutes."""
    folder = cache / "tau2" / "telecom"
    tools = BothSides(read_telecom(folder).database)
    tasks = read_tasks(folder)
    assert len(tasks) == 2_285
    for task in tasks:
        assert task.criteria is not None
        tools.store.reset()
        tools.prepare(task.preparation)
        actions = task.criteria.actions or ()
        assert not [action for action in actions if answer(tools, action.name, action.arguments)[1]]
        for assertion in task.criteria.state_assertions:
            told = tools.read_state(format_assertion_uri(assertion))
            assert told == json.dumps(assertion.expected), task.id
