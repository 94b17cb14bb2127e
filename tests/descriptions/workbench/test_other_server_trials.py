"""Which cases can run on another server, and with which models."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.descriptions.workbench.other_server_trials import (
    find_unusable_cases,
    format_unusable_cases,
    start_other_server,
)
from harness.descriptions.workbench.stages import WorkbenchContext
from harness.runner.planning.plan import Job, RunPlan
from harness.runner.planning.request import RunRequest
from harness.types import ModelSpec, ScriptedCall, ServerSpec, Suite, Trial
from tests.descriptions.workbench.benches import case, tool

TOOLS = [tool("find", "Find.", id={"type": "string"}), tool("ping")]


def test_a_case_can_be_asked_of_a_server_that_has_its_tools_and_their_arguments() -> None:
    cases = [
        case("right", must_call=[{"tool": "find", "args": {"id": "C7"}}]),
        case("says no tool", answer_contains="x"),
        case("may be absent", must_not_call=[{"tool": "drop", "allow_absent": True}]),
    ]
    assert find_unusable_cases(cases, TOOLS) == {}


def test_a_case_that_names_what_the_other_server_lacks_is_told_with_the_reason() -> None:
    scripted = ScriptedCall(tool="seed", arguments={})
    cases = [
        case("no tool", must_call=[{"tool": "search", "args": {"id": "C7"}}]),
        case("forbids one", must_not_call=["drop"]),
        case("no argument", must_call=[{"tool": "find", "args": {"number": "C7"}}]),
        dataclasses.replace(case("setup"), setup=(scripted,)),
        dataclasses.replace(case("elsewhere"), server=ServerSpec(name="other")),
    ]
    found = find_unusable_cases(cases, TOOLS)
    assert found == {
        "no tool": "names the tool search, which is not there",
        "forbids one": "names the tool drop, which is not there",
        "no argument": "the tool 'find' has no argument 'number'",
        "setup": "names the tool seed, which is not there",
        "elsewhere": "has a server of its own, other",
    }
    assert format_unusable_cases(found).startswith(
        "no tool (names the tool search, which is not there); forbids"
    )


@pytest.mark.parametrize("provider", ["recorded", "replay"])
def test_a_model_that_repeats_what_it_said_is_not_asked_about_another_list(
    provider: str, tmp_path: Path
) -> None:
    only = case("a", must_call=["find"])
    suite = Suite(name="s", cases=(only,))
    model = ModelSpec(name="old answers", provider=provider, model_id="x")
    trial = Trial(suite="s", case=only, model=model.name, number=1, key="k")
    job = Job(trial=trial, suite=suite, model=model, server=ServerSpec(name="a"))
    ground = WorkbenchContext(request=RunRequest(), cwd=tmp_path, environ={})
    with pytest.raises(UsageError, match="repeats what was said to one tool list"):
        start_other_server(ground, "b", RunPlan(jobs=(job,)))
