"""The workbench with an agent as the one who is shown other words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.judging.exit_codes import EXIT_PASSED
from tests.agents.projects import Agents
from tests.end_to_end.workbench.test_run import CASES, TOOLS, WEIGHT, worded
from tests.reports.packs import all_of

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_ablation_names_the_sentence_that_an_agent_goes_by_and_says_what_is_not_seen(
    project: Agents,
) -> None:
    command = [sys.executable, "-m", "tests.agents.by_words", WEIGHT, "{prompt}"]
    agent = {"type": "command", "command": command, "env": {"PYTHONPATH": str(ROOT)}}
    project.configure(agents={"ours": agent})
    project.suite("shop", CASES, server=worded(project, TOOLS))
    asked = ("workbench", "shop", "--agent", "ours", "--studies", "ablation,cost")
    done = project.run(*asked, "--json-output", "--report", "html")
    assert done.code == EXIT_PASSED, done.stderr
    result = done.document["result"]
    assert (result["trials"]["not_judged"], len(result["notes"])) == (0, 1)
    unseen = "ours is an agent: what it does without the server is not seen"
    assert unseen in result["notes"][0]
    [model] = result["models"]
    parts = model["studies"]["ablation"]["parts"]
    assert (model["model"], parts[0]["part"]["text"], parts[0]["effect"]) == ("ours", WEIGHT, 1.0)
    assert {one["effect"] for one in parts[1:]} == {0.0}
    (page,) = project.folder.rglob("*.html")
    assert unseen in all_of(page.read_text("utf-8"))
    again = project.run("workbench", "--from", "latest", "--json-output")
    assert again.document["result"]["models"] == result["models"], again.stderr
