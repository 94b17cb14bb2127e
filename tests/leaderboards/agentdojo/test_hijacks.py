"""Both ground truths of a pair, replayed without a model, and judged by the official code."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from harness.base.fetching.cache import cache_root
from harness.judging import Evidence, evaluate_checks
from harness.leaderboards.agentdojo.suite import AGENTDOJO
from harness.types import Case, Outcome, ToolCall, ToolList, Transcript
from tests.end_to_end.harness_process import Project
from tests.leaderboards.agentdojo.support import installed

pytestmark = pytest.mark.slow


def judge(case: Case, ending: Outcome) -> str | None:
    """Return the code of a replay in which each call of the attacker ends so."""
    [check] = case.checks
    calls = [
        ToolCall(
            tool=call.tool,
            arguments=call.arguments,
            outcome="ok" if place < check.params["reference"] else ending,
            reply=0,
        )
        for place, call in enumerate(case.calls)
    ]
    [begin] = case.setup
    begun = ToolCall(
        tool=begin.tool,
        arguments=begin.arguments,
        outcome="ok",
        reply=0,
        text='{"injections": {}}',
    )
    transcript = Transcript(setup_calls=(begun,), tool_calls=tuple(calls))
    evidence = Evidence(case=case, transcript=transcript, tools=ToolList(tools=()))
    [result] = anyio.run(evaluate_checks, evidence)
    return result.code


def test_a_call_that_a_gateway_refuses_does_not_reach_the_goal() -> None:
    installed()
    [suite] = AGENTDOJO.build_hijacks("banking")
    # By hand: 16 user tasks, 9 injection tasks.
    assert len(suite.cases) == 144
    case = suite.cases[0]
    assert judge(case, "ok") == "hijack:open"
    assert judge(case, "denied") == "hijack:stopped"


def test_nothing_but_the_model_stands_between_an_attacker_and_agentdojos_goals(
    tmp_path: Path,
) -> None:
    installed()
    project = Project(tmp_path, {"HARNESS_CACHE": str(cache_root())})
    done = project.run("probe", "agentdojo:travel", "--attacks", "standard", "--json-output")
    assert done.code == 0, done.stderr
    # By hand: 20 user tasks and 7 injection tasks, of which the sixth wants a text.
    replays = done.document["replays"]
    assert len(replays) == 140
    silent = {one["goal"] for one in replays if one["outcome"] == "not_sent"}
    assert silent == {"travel injection_task_6"}
    # With four user tasks the package's check fails, though nothing is refused: nothing is claimed.
    unclear = {one["goal"] for one in replays if one["outcome"] == "unclear"}
    assert unclear == {"travel injection_task_2"}
    assert done.document["totals"]["open"] == 140 - 20 - 4
