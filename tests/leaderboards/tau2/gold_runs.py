"""Simulations of telecom in which the gold actions are called, as result files have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.leaderboards.tau2.support import hears, says


def build_simulation(
    task: Mapping[str, Any], actions: Sequence[Mapping[str, Any]], *, reason: str = "user_stop"
) -> dict[str, Any]:
    """Return a simulation with these calls, each by the side that the task says."""
    messages = [says("Hi! How can I help you today?"), hears("It does not work.")]
    for number, action in enumerate(actions):
        call = {"id": f"call_{number}", "name": action["name"], "arguments": action["arguments"]}
        by_user = action["requestor"] == "user"
        if by_user:
            messages += [says("Please try this."), {**hears(""), "tool_calls": [call]}]
        else:
            messages.append({**says(None), "tool_calls": [call]})
        messages.append(
            {
                "role": "tool",
                "id": call["id"],
                "content": "",
                "error": False,
                "requestor": action["requestor"],
            }
        )
        messages += [hears("Done.")] if by_user else []
    messages += [says("Is there anything else?"), hears("###STOP###")]
    return {
        "id": task["id"],
        "task_id": task["id"],
        "trial": 0,
        "termination_reason": reason,
        "messages": messages,
    }


def build_solo_simulation(
    task: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a simulation without a customer, in which the agent makes every call itself."""
    alone = [{**action, "requestor": "assistant"} for action in actions]
    whole = build_simulation(task, alone, reason="agent_stop")
    # Neither a greeting nor a customer: the agent begins with a call, and ends with the stop.
    return {**whole, "messages": [*whole["messages"][2:-2], says("###STOP###")]}


def write_results(
    path: Path,
    tasks: Iterable[Mapping[str, Any]],
    simulations: Iterable[Mapping[str, Any]],
    *,
    user: str = "user_simulator",
) -> Path:
    """Write a result file of telecom; ``user`` is the implementation of its customer."""
    info = {
        "environment_info": {"domain_name": "telecom"},
        "agent_info": {"llm": "gold"},
        "user_info": {"implementation": user},
    }
    path.write_text(
        json.dumps({"info": info, "tasks": list(tasks), "simulations": list(simulations)})
    )
    return path
