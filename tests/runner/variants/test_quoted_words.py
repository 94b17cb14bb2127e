"""Failures of runs under a variant: they quote what the model saw, not the server's own words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.reports.querying.index import STORE
from tests.end_to_end.harness_process import Finished, Project, provided
from tests.fake_provider import Incoming, Step, call, say
from tests.often import often
from tests.reports.packs import all_of

OURS = "Find the orders of one customer, and the total."
"""What the variant says of `search_orders`."""
THEIRS = "Count and total orders by customer"
"""What the server says of it."""
VAGUE = {
    "tools": {
        "search_orders": {
            "name": "find_orders",
            "description": OURS,
            "parameters": {"status": {"name": "state"}, "min_amount": None},
        },
        "search_customers": None,
    }
}
FORMATS = ("json", "html", "junit", "markdown")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def confused(request: Incoming) -> Step:
    """Call the tool that the variant shows as ``find_orders``, then answer."""
    return say("Done.") if request.turn else call("find_orders", {"state": "shipped"})


def run(project: Project, assertions: dict[str, Any], *arguments: str) -> Finished:
    case = {"name": "bought", "prompt": "What did CUST_00042 buy?", "assertions": assertions}
    case["user_context"] = {"role": "admin", "permissions": []}
    project.suite("words", [case], server="data_governance", variants={"vague": VAGUE})
    return project.run("evals", "words", "--variant", "vague", *arguments)


def told(project: Project) -> tuple[str, str]:
    """Return the explanation and the hint of the only failed check."""
    (result,) = project.log().results
    (check,) = [check for check in result.checks if check.verdict == "failed"]
    return check.explanation, check.hint or ""


def test_every_report_quotes_the_description_and_the_name_that_the_model_saw(
    project: Project,
) -> None:
    wanted = {"must_call": "get_customer_purchase_history"}
    reports = [part for name in FORMATS for part in ("--report", name)]
    with provided(project, confused):
        finished = run(project, wanted, *reports)
    assert finished.code == 1, finished.stderr
    (folder,) = (project.folder / ".harness" / "runs").glob("*-words-*")
    reports_written = (path for path in folder.iterdir() if path.name not in {"log.jsonl", STORE})
    written = {path.name: all_of(path.read_text("utf-8")) for path in reports_written}
    assert len(written) == len(FORMATS)
    for text in (finished.stdout, *written.values()):
        assert OURS in text
        assert THEIRS not in text
        assert "find_orders (search_orders on the server)" in " ".join(text.split())


@pytest.mark.slow
def test_a_log_that_is_judged_again_quotes_the_same_words(project: Project) -> None:
    with provided(project, confused):
        run(project, {"must_call": "get_customer_purchase_history"})
    before = told(project)
    assert OURS in before[0]
    again = project.run("grade", "latest", "words", "--json-output")
    assert again.code == 1, again.stderr
    assert told(project) == before
    assert project.log().header.settings["graded_from"]
    assert json.loads(again.stdout)


@pytest.mark.slow
def test_a_hint_names_the_parameter_that_the_model_saw(project: Project) -> None:
    with provided(project, confused):
        run(project, {"must_call": [{"tool": "search_orders", "args": {"status": "pending"}}]})
    assert "description of the parameter state (status on the server)" in told(project)[1]


@pytest.mark.parametrize(
    ("assertions", "explanation", "hint"),
    often(
        [
            (
                {"must_call": [{"tool": "search_orders", "args": {"min_amount": 5}}]},
                "unexpected arguments",
                "The variant does not show the parameter min_amount to the model",
            ),
            (
                {"must_call": "search_customers"},
                "The variant vague does not show search_customers to the model.",
                "Let the variant show the tool",
            ),
            (
                {"decision": {"tool": "search_customers", "is": "hidden"}},
                "Decision is not attempted, expected hidden",
                "Let the variant show the tool",
            ),
            (
                {"only_call": ["get_customer_details"]},
                "search_orders",
                "description of find_orders (search_orders on the server) when it is not needed",
            ),
        ],
        1,
    ),
)
def test_a_failure_tells_what_the_variant_hides_or_renames(
    project: Project, assertions: dict[str, Any], explanation: str, hint: str
) -> None:
    with provided(project, confused):
        run(project, assertions)
    found = told(project)
    assert explanation in found[0]
    assert hint in found[1]


@pytest.mark.slow
def test_a_call_by_a_name_that_the_variant_replaced_is_no_fault_of_the_server(
    project: Project,
) -> None:
    def by_heart(request: Incoming) -> Step:
        return say("Done.") if request.turn else call("search_orders", {})

    with provided(project, by_heart):
        run(project, {"no_tool_errors": True})
    explanation, hint = told(project)
    assert "not sent: the variant shows the model no tool of this name" in explanation
    assert "The model made up the name" in hint
