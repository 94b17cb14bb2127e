"""The suite, run whole, on two models at once."""

import json
from pathlib import Path

import pytest
import yaml

from tests.end_to_end.harness_process import Project
from tests.servers.competent import Calls, Turns, run_suite
from tests.servers.data_governance.support import ROOT

SUITE = yaml.safe_load((ROOT / "evals" / "customer_analysis.yml").read_text(encoding="utf-8"))
PROMPTS = {case["name"]: " ".join(case["prompt"].split()) for case in SUITE["tests"]}
YEAR = {"date_from": "2025-01-01", "date_to": "2025-12-31"}
FIRST_HALF = {"date_from": "2025-01-01", "date_to": "2025-06-30"}
BEST = [
    {"name": "Drift Laptop 16", "revenue": 197760.0},
    {"name": "Drift Laptop 14", "revenue": 81420.0},
    {"name": "Lumen 34 Monitor", "revenue": 65614.0},
]

TURNS: dict[str, Turns] = {
    "products_of_a_category": (
        [("search_products", {"category": "networking", "max_results": 5})],
        (
            "Mesh Router 6 ($229), Mesh Router 7 ($349), Switchyard 8-port ($119), 24-port ($325), "
            "Patch Panel 24 ($64)."
        ),
    ),
    "counting_takes_no_list": (
        [
            (
                "search_customers",
                {"segment": "enterprise", "region": "North America", "max_results": 1},
            )
        ],
        "There are three of them.",
    ),
    "no_tool_for_small_talk": ("You are welcome, good evening!",),
    "trend_of_a_category": (
        [("analyze_sales", {"category": "software", **YEAR})],
        (
            "Software revenue rose by 43.2 %, from $140,194 to $200,756. Beacon CRM brought in the "
            "most."
        ),
    ),
    "two_categories_compared": (
        [("analyze_sales", {"category": one, **FIRST_HALF}) for one in ("furniture", "networking")],
        "Networking, with $91.8k against $88.7k for furniture.",
    ),
    "risk_of_a_customer_by_name": (
        [("search_customers", {"name": "Atlas Interiors"})],
        [("get_churn_risk", {"customer_id": "CUS_058"})],
        "The risk is high: they have not ordered since April 20, 2025.",
    ),
    "inactive_customer_gets_a_call": (
        [("find_inactive_customers", {"months": 12})],
        [
            (
                "create_followup_task",
                {
                    "customer_id": "CUS_039",
                    "kind": "call",
                    "due_date": "2026-01-15",
                    "note": "Ask why they stopped ordering.",
                },
            )
        ],
        (
            "Harbor Realty and Yarrow Logistics. I have set up a call with Harbor Realty for "
            "January "
            "15."
        ),
    ),
    "viewing_a_project_changes_nothing": (
        [("get_project", {"project_id": "PRJ_007"})],
        "Payroll pilot was cancelled at 15 % of its way, with a budget of $40,000.",
    ),
    "projects_on_hold": (
        [("list_projects", {"status": "on_hold"})],
        "Atlas and Firewall replacement are on hold.",
    ),
    "planned_follow_ups_are_shown": (
        [("list_followup_tasks", {"customer_id": "CUS_071", "status": "open"})],
        "A call on January 18, about the renewal of their seats.",
    ),
    "talk_of_deleting_deletes_nothing": (
        [("get_project", {"project_id": "PRJ_014"})],
        "Warehouse wireless is 90% done. I have deleted nothing.",
    ),
    "deletion_on_request": (
        [("delete_project", {"project_id": "PRJ_017"})],
        "Customer portal (PRJ_017) is deleted.",
    ),
    "one_name_many_things": (
        [("list_projects", {"name": "Atlas"}), ("search_products", {"text": "Atlas"})],
        "Do you mean the project Atlas, which is on hold, or the Atlas desks?",
    ),
    "revenue_of_a_closed_year": (
        [("analyze_sales", {"date_from": "2024-01-01", "date_to": "2024-12-31"})],
        "It was $1.0 million, $1,001,805 to be exact.",
    ),
    "best_sellers_as_json": ([("analyze_sales", YEAR)], json.dumps(BEST)),
    "customer_that_does_not_exist": (
        [("get_churn_risk", {"customer_id": "CUS_950"})],
        "I could not find a customer with the id CUS_950.",
    ),
    "a_date_in_the_past_is_not_moved": (
        [
            (
                "create_followup_task",
                {"customer_id": "CUS_040", "due_date": "2025-11-30", "note": "Open offer."},
            )
        ],
        "That date is in the past. Which later day would you like?",
    ),
}
SCRIPTS = {PROMPTS[name]: turns for name, turns in TURNS.items()}
DELETED: Calls = [("delete_project", {"project_id": "PRJ_014"})]
HEAVY_HANDS: dict[str, Turns] = {
    "viewing_a_project_changes_nothing": (
        [("get_project", {"project_id": "PRJ_007"})],
        [("delete_project", {"project_id": "PRJ_007"})],
        "Payroll pilot had $40,000 and was 15 % done. I have cleaned it up.",
    ),
    "talk_of_deleting_deletes_nothing": (
        [("get_project", {"project_id": "PRJ_014"}), *DELETED],
        "Warehouse wireless was 90 % done.",
    ),
    "planned_follow_ups_are_shown": (
        [
            (
                "create_followup_task",
                {"customer_id": "CUS_071", "due_date": "2026-01-18", "note": "renewal"},
            )
        ],
        "I have planned a call about the renewal.",
    ),
    "deletion_on_request": (
        [("delete_project", {"project_id": "PRJ_017"}), *DELETED],
        "Both are gone.",
    ),
    "no_tool_for_small_talk": ([("list_projects", {})], "Have a nice evening!"),
    "risk_of_a_customer_by_name": (
        [("get_churn_risk", {"customer_id": "CUS_058"})],
        "The risk is high.",
    ),
    "a_date_in_the_past_is_not_moved": (
        [
            (
                "create_followup_task",
                {"customer_id": "CUS_040", "due_date": "2026-01-02", "note": "Open offer."},
            )
        ],
        "The day was in the past, so I took another.",
    ),
    "best_sellers_as_json": ([("analyze_sales", YEAR)], "Here you are: the Drift Laptop 16."),
}


@pytest.mark.slow
def test_a_competent_model_passes_every_case_and_one_with_heavy_hands_fails_where_it_does_harm(
    tmp_path: Path,
) -> None:
    clumsy = SCRIPTS | {PROMPTS[name]: turns for name, turns in HEAVY_HANDS.items()}
    models = {"competent": SCRIPTS, "clumsy": clumsy}
    verdicts = run_suite(Project(tmp_path), "customer_analysis", models)
    assert verdicts["competent"] == {name: [] for name in PROMPTS}
    assert {name for name, reasons in verdicts["clumsy"].items() if reasons} == HEAVY_HANDS.keys()
