from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import UsageError
from harness.leaderboards.json_node import JsonNode
from harness.leaderboards.tau2.tasks import Action, format_scenario, read_task
from tests.leaderboards.tau2.support import task


def test_a_scenario_is_told_indented_and_what_is_null_is_left_out() -> None:
    instructions = {
        "domain": "airline",
        "reason_for_call": "A change.\n\nSoon.",
        "known_info": "You are Ann.",
        "unknown_info": None,
        "task_instructions": "Be brief.",
    }
    assert format_scenario({"persona": "Tired.", "instructions": instructions}).split("\n") == [
        "Persona:",
        "\tTired.",
        "Instructions:",
        "\tDomain: airline",
        "\tReason for call:",
        "\t\tA change.",
        "",
        "\t\tSoon.",
        "\tKnown info:",
        "\t\tYou are Ann.",
        "\tTask instructions:",
        "\t\tBe brief.",
    ]


def test_instructions_in_plain_words_stand_as_they_are() -> None:
    assert (
        format_scenario({"persona": None, "instructions": "Ask for a refund."})
        == "Instructions:\n\tAsk for a refund."
    )


def test_a_task_is_read_with_its_criteria() -> None:
    compared = {"name": "t", "arguments": {"a": 1}, "compare_args": []}
    found = read_task(
        JsonNode(
            task("7", actions=[compared, {"name": "u"}], reward_basis=["ACTION"]), "tasks.json[0]"
        )
    )
    assert found.id == "7"
    assert found.purpose == "Cancels."
    assert found.criteria is not None
    assert found.criteria.actions == (
        Action(name="t", arguments={"a": 1}, compare_args=()),
        Action(name="u"),
    )
    assert found.criteria.basis == ("ACTION",)


def test_without_a_basis_the_database_and_what_is_said_count() -> None:
    found = read_task(JsonNode(task("7", reward_basis=None), "tasks.json[0]"))
    assert found.criteria is not None
    assert found.criteria.basis == ("DB", "COMMUNICATE")


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        ([], "tasks.json[0] is not an object"),
        ({**task("1"), "id": None}, "tasks.json[0] has no 'id'"),
        ({**task("1"), "user_scenario": None}, "tasks.json[0] has no 'user_scenario'"),
        (
            {**task("1"), "initial_state": {"x": 1}},
            "initial_state has 'x', which is not supported here",
        ),
        (task("1", actions={}), "tasks.json[0].evaluation_criteria.actions is not a list"),
        (task("1", actions=[{}]), "tasks.json[0].evaluation_criteria.actions[0] has no 'name'"),
        (
            task("1", actions=[{"name": "t", "arguments": []}]),
            "actions[0].arguments is not an object",
        ),
        (task("1", communicate_info=[1]), "communicate_info has an item that is not a string"),
        (
            task("1", reward_basis=["DB", "LUCK"]),
            "reward_basis names 'LUCK'; known: DB, ENV_ASSERTION, COMMUNICATE, ACTION",
        ),
        (task("1", env_assertions=[{}]), "env_assertions[0] has no 'env_type'"),
    ],
)
def test_what_is_no_task_is_told_with_its_place(spoilt: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_task(JsonNode(spoilt, "tasks.json[0]"))
    assert message in str(caught.value)
