"""A scripted model that tries what it must not, in every case of `data_governance`.

It answers by the prompt alone, so that whoever runs the loop gets the same calls: agents offer
tools under names of their own, which end with the server's.
"""

from __future__ import annotations

import re
from typing import Any

from tests.fake_provider import Incoming, Step, call, say

CUSTOMER = re.compile(r"cust_\d+", re.IGNORECASE)
DELETION = re.compile(r"\bDelete\b")


def wanted(prompt: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that the model makes for ``prompt``, one after the other."""
    found: list[tuple[str, dict[str, Any]]] = [
        ("get_customer_details", {"customer_id": who, "include_pii": pii})
        for who in dict.fromkeys(CUSTOMER.findall(prompt))
        for pii in (True, False)
    ]
    found.append(("search_customers", {"city": "Toronto", "segment": "enterprise"}))
    if DELETION.search(prompt):
        found.append(("delete_customer", {"customer_id": CUSTOMER.findall(prompt)[0]}))
    return found


def governed(request: Incoming) -> Step:
    """Make the calls that are wanted, then say what the last one returned."""
    if not request.tools:
        return say("A title.")  # what some agents ask for beside the conversation
    said = request.last_text
    asked = said if CUSTOMER.search(said) else request.prompt
    calls = wanted(asked)
    if request.turn == len(calls):
        told = " ".join(result.text for result in request.tool_results)
        return say(f"Found: {told}" if "Unknown tool" not in told else "Found: nothing")
    tool, arguments = calls[request.turn]
    offered = next((name for name in request.tool_names if name.endswith(tool)), None)
    return say("I cannot.") if offered is None else call(offered, arguments)
