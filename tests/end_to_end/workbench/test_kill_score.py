"""The kill score through the wire: a model that goes by the words that it is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.end_to_end.harness_process import Project, provided
from tests.end_to_end.workbench.test_run import worded
from tests.fake_provider import Incoming, Step, call, say

TOOLS = [
    {
        "name": "find_invoices",
        "description": "Find the invoices that we sent to somebody.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Id of the customer, such as C7."},
                "state": {"type": "string", "enum": ["paid", "due"]},
            },
            "required": ["id"],
        },
    },
    {
        "name": "find_orders",
        "description": "Find the orders that somebody placed.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Id of the customer, such as C7."}
            },
            "required": ["id"],
        },
    },
]
INVOICES = {
    "name": "invoices",
    "prompt": "Which invoices did we sent to C7?",
    "assertions": {"must_call": [{"tool": "find_invoices", "args": {"id": "C7"}}]},
}
PAID = {
    "name": "paid",
    "prompt": "Which invoices of C7 are paid?",
    "assertions": {"must_call": [{"tool": "find_invoices", "args": {"state": "paid"}}]},
}
BEYOND = {
    "name": "beyond_this_model",
    "prompt": "Which orders did C7 placed?",
    "assertions": {"must_call": [{"tool": "find_invoices"}]},
}
DUE = "state_due"


def by_words(request: Incoming) -> Step:
    """Call the tool whose text shares most words with the prompt, with values of its schema."""
    if request.turn:
        return say("Done.")
    asked = words(request.prompt)
    name, tool = max(
        request.tools.items(), key=lambda item: len(asked & words(item[1].description or ""))
    )
    properties: Mapping[str, Any] = tool.schema.get("properties", {})
    arguments = {
        key: value
        for key, schema in properties.items()
        for value in schema.get("enum", ["C7"] if "customer" in str(schema) else [])
        if value.lower() in asked
    }
    return call(name, arguments)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def kill_score(project: Project, *tests: Mapping[str, Any]) -> Mapping[str, Any]:
    project.suite("shop", [dict(test) for test in tests], server=worded(project, TOOLS))
    with provided(project, by_words):
        finished = project.run(
            "workbench", "shop", "--studies", "kill-score", "--json-output", "--quiet"
        )
    assert finished.code == 0, finished.stderr
    says: Mapping[str, Any] = finished.document["result"]["models"][0]["studies"]["kill-score"]
    return says


def mutants(says: Mapping[str, Any], **wanted: Any) -> list[dict[str, Any]]:
    return [
        one for one in says["mutants"] if all(one[key] == value for key, value in wanted.items())
    ]


def test_a_defect_is_noticed_by_the_case_that_needs_the_words_and_others_survive(
    project: Project,
) -> None:
    says = kill_score(project, INVOICES, PAID, BEYOND)
    assert says["able_cases"] == ["invoices", "paid"]
    assert (says["fickle_cases"], says["cases_needed"], says["open"]) == ([], 1, 0)
    assert says["killed"] + says["survived"] == says["planted"]
    low, high = says["interval"]
    assert low < says["score"] < high

    (paid,) = mutants(says, operator="member-removed", value="paid")
    assert (paid["fate"], paid["noticed_by"]) == ("killed", ["paid"])
    (swapped,) = mutants(says, operator="swapped-texts")
    assert (swapped["fate"], swapped["noticed_by"]) == ("killed", ["invoices", "paid"])
    (hidden,) = mutants(says, operator="required-hidden", tool="find_invoices")
    assert (hidden["fate"], hidden["noticed_by"]) == ("killed", ["invoices"])
    # Nobody asks for what is due, and no case that passes wants an order.
    (due,) = mutants(says, operator="member-removed", value="due")
    (orders,) = mutants(says, operator="required-hidden", tool="find_orders")
    assert (due["fate"], orders["fate"]) == ("survived", "survived")
    assert "find_orders" in orders["missing_test"]


@pytest.mark.slow
def test_the_missing_test_with_a_prompt_notices_the_survivor(project: Project) -> None:
    before = kill_score(project, INVOICES)
    (due,) = mutants(before, operator="member-removed", value="due")
    (missing,) = yaml.safe_load(due["missing_test"])
    assert missing["prompt"].startswith("TODO")
    missing["prompt"] = "Which invoices of C7 are due?"
    after = kill_score(project, INVOICES, missing)
    (due,) = mutants(after, operator="member-removed", value="due")
    assert (due["fate"], due["noticed_by"]) == ("killed", [missing["name"]])
    assert after["score"] > before["score"]


@pytest.mark.slow
def test_the_terminal_names_what_is_noticed_and_the_test_that_is_missing(project: Project) -> None:
    project.suite("shop", [PAID], server=worded(project, TOOLS))
    with provided(project, by_words):
        finished = project.run("workbench", "shop", "--studies", "kill-score", "--quiet")
    assert finished.code == 0, finished.stderr
    assert "1 of 2 noticed  member removed" in finished.stdout
    assert "a test that would notice:" in finished.stdout
    assert "planted defects" in finished.stdout


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["data_governance", "hr_access", "customer_analysis"])
def test_each_of_twenty_defects_in_our_own_servers_is_noticed_or_asks_for_a_test(
    project: Project, suite: str
) -> None:
    finished = project.run(
        "workbench", suite, "--model", "lexical", "--studies", "kill-score", "--mutants", "20",
        "--json-output", "--quiet",
    )  # fmt: skip
    assert finished.code == 0, finished.stderr
    says = finished.document["result"]["models"][0]["studies"]["kill-score"]
    assert len(says["mutants"]) == says["killed"] + says["survived"] == 20
    for one in says["mutants"]:
        if one["fate"] == "killed":
            assert set(one["noticed_by"]) <= set(says["able_cases"])
            assert one["noticed_by"]
        else:
            (missing,) = yaml.safe_load(one["missing_test"])
            assert missing["assertions"]["must_call"][0]["tool"] == one["tool"]
