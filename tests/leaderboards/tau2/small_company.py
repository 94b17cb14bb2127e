"""A cache folder whose phone company is one of our own making."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.leaderboards.tau2.data import V0_2

ACCOUNTS = """
devices = []
bills = []
[[plans]]
plan_id = "P1"
name = "Small"
data_limit_gb = 5.0
price_per_month = 40.0
data_refueling_price_per_gb = 2.0
[[lines]]
line_id = "L1"
phone_number = "1"
status = "Active"
plan_id = "P1"
[[customers]]
customer_id = "C1"
full_name = "Zoe Ng"
line_ids = ["L1"]
"""
OF_AGENT = ("get_customer_by_id", "enable_roaming")
OF_CUSTOMER = ("check_network_status", "toggle_roaming")
MINE = {"customer_id": "C1", "line_id": "L1"}


def write_company(root: Path, tasks: Sequence[Mapping[str, Any]]) -> Path:
    """Write the cache folder ``root``; return it."""
    folder = root / "tau2" / "telecom"
    folder.mkdir(parents=True)
    for name, tools in (("tools.json", OF_AGENT), ("user_tools.json", OF_CUSTOMER)):
        listed = [
            {"name": tool, "description": f"{tool}.", "parameters": {"type": "object"}}
            for tool in tools
        ]
        (folder / name).write_text(json.dumps(listed))
    (folder / "db.toml").write_text(ACCOUNTS)
    (folder / "user_db.toml").write_text("")
    for name in ("main_policy.md", "main_policy_solo.md", "tech_support_manual.md"):
        (folder / name).write_text(f"The text of {name}.")
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "split_tasks.json").write_text(json.dumps({"base": [task["id"] for task in tasks]}))
    stamp = {"tree": V0_2.tree_digest, "categories": ["telecom"], "limit": None}
    (folder.parent / "fetched.json").write_text(json.dumps(stamp))
    return root


def build_task(name: str) -> dict[str, Any]:
    """Return a task that both sides must work at: somebody abroad has no internet."""
    return {
        "id": name,
        "description": {"purpose": "Roams."},
        "user_scenario": {"instructions": {"domain": "telecom", "reason_for_call": "No internet."}},
        "ticket": "The user has no internet. Name: Zoe Ng.",
        "initial_state": {
            "initialization_actions": [
                _prepare("set_user_info", name="Zoe Ng", phone_number="1"),
                _prepare("set_user_location", abroad=True),
            ]
        },
        "evaluation_criteria": {
            "actions": [
                {"name": "enable_roaming", "arguments": MINE, "requestor": "assistant"},
                {"name": "toggle_roaming", "arguments": {}, "requestor": "user"},
            ],
            "env_assertions": [
                {
                    **_prepare("assert_mobile_data_status", expected_status=True),
                    "assert_value": True,
                }
            ],
            "reward_basis": ["ENV_ASSERTION", "ACTION"],
        },
    }


def _prepare(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"env_type": "user", "func_name": name, "arguments": arguments}
