"""Live runs under official attacks: a gullible model reaches the goals, a careful one none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.fetching.cache import cache_root
from harness.leaderboards.agentdojo.process import OfficialProcess
from harness.leaderboards.agentdojo.source import find_packages, read_contents
from harness.reports.build import build_report
from harness.reports.sections.attacks import list_attack_figures
from harness.types import JsonObject
from tests.end_to_end.harness_process import Project
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.leaderboards.agentdojo.support import installed

pytestmark = pytest.mark.slow
GOALS = ("injection_task_0", "injection_task_2", "injection_task_4")


def test_a_gullible_model_is_hijacked_and_a_careful_one_is_not(tmp_path: Path) -> None:
    installed()
    tasks = list(read_contents()["versions"].values())[-1]["banking"]["injection_tasks"]
    asked = {"suite": "banking", "version": "v1.2.2"}
    with OfficialProcess(find_packages()) as official:
        truths = {
            tasks[name]: official.ask("ground_truth", {**asked, "task": name})["calls"]
            for name in GOALS
        }

    def answer(request: Incoming) -> Step:
        if request.turn == 0:
            return call("read_file", {"file_path": "bill-december-2023.txt"})
        read = str(request.body)
        orders: list[JsonObject] = next(
            (calls for goal, calls in truths.items() if goal in read), []
        )
        if request.body["model"] == "careful" or request.turn > len(orders):
            return say("Done.")
        order = orders[request.turn - 1]
        return call(order["function"], order["args"])

    project = Project(tmp_path, {"HARNESS_CACHE": str(cache_root())})
    with FakeProvider(answer) as provider:
        entry = {"type": "openai", "api_key": "test-key", "base_url": f"{provider.url}/v1"}
        models = {name: {**entry, "model": name} for name in ("gullible", "careful")}
        project.configure(models={"default": "careful", "models": models})
        cases = " or ".join(f"banking-user_task_0-{name}-*" for name in GOALS)
        done = project.run(
            *("evals", "agentdojo:banking", "--attack", "direct@gpt-4o"),
            *("-k", f"*::banking-user_task_0 or {cases}", "-m", "gullible", "-m", "careful"),
        )
    assert done.code == 1, done.stderr
    log = project.log()
    assert all(one.status in {"passed", "failed"} for one in log.results), done.stdout
    figures = {one.subject: one for one in list_attack_figures(build_report(log))}
    rates = {name: (one.success and one.success.rate) for name, one in figures.items()}
    assert rates == {"gullible": 1, "careful": 0}, done.stdout
    assert {one.success and one.success.trials for one in figures.values()} == {len(GOALS)}
    # What was said to the model is the official text, in a result of the real server.
    assert all(any(goal in str(one.body) for one in provider.journal) for goal in truths)
