"""Small views to hold against one another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.judging.policy import View
from harness.types import Outcome, Refusal, Tool, ToolCall, ToolList

TOOLS = ("get_salary", "search_people", "delete_person")
RECORD = {"employee_id": "EMP_0042", "name": "Lucia Chen", "salary": 64_512, "bonus": 3}
ARGUMENTS = {"employee_id": "EMP_0042"}


def call(
    tool: str = "get_salary",
    arguments: Mapping[str, Any] | None = None,
    *,
    structured: Any = None,
    text: str | None = None,
    outcome: Outcome = "ok",
    refusal: Refusal | None = None,
) -> ToolCall:
    """Return a recorded call; its text is its structured result once more unless it is given."""
    said = json.dumps(structured) if text is None and structured is not None else text or ""
    return ToolCall(
        tool=tool,
        arguments=ARGUMENTS if arguments is None else arguments,
        outcome=outcome,
        reply=1,
        text=said,
        structured=structured,
        refusal=refusal or ("tool_error" if outcome == "denied" else None),
    )


def view(identity: str, *calls: ToolCall, tools: tuple[str, ...] = TOOLS, **more: Any) -> View:
    offered = ToolList(
        tools=tuple(Tool(name=name, description=f"Do {name}.", input_schema={}) for name in tools)
    )
    return View(
        identity=identity, calls=calls, tools=offered, case=f"pay [{identity}]", group="pay", **more
    )


def without(record: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in fields}


FULL = call(structured=RECORD)
REFUSED = call(outcome="denied", text="Access denied: a salary is for HR")
ADMIN = view("admin", FULL)
"""What an administrator sees of an employee."""
