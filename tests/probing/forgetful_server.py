"""An MCP server over stdio with two faults that a single call does not show.

``get_person`` answers as to whoever asked before, and ``list_people`` is sorted by the salary,
which is shown to administrators alone. The variable ``SALARY`` gives the first person another one.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

KEY = "harness/user_context"
_ANY = {"type": "object", "properties": {}}
_TOOLS = [
    {"name": name, "inputSchema": _ANY, "annotations": {"readOnlyHint": True}}
    for name in ("get_person", "list_people")
]


def _people(role: str | None) -> list[dict[str, Any]]:
    people = [
        {"id": "P-1", "name": "Ann Lee", "salary": int(os.environ.get("SALARY", "71250"))},
        {"id": "P-2", "name": "Bo Falk", "salary": 83400},
    ]
    if role == "admin":
        return people
    return [{"id": one["id"], "name": one["name"]} for one in people]


def main() -> None:
    """Answer each request on stdin."""
    before: str | None = None
    for line in sys.stdin:
        request = json.loads(line)
        method, params = request.get("method"), request.get("params") or {}
        if "id" not in request:
            continue
        result: dict[str, Any] = {}
        if method == "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "forgetful", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": _TOOLS}
        elif method == "tools/call":
            role = (params.get("_meta", {}).get(KEY) or {}).get("role")
            found: dict[str, Any] = {"person": _people(before)[0]}
            if params["name"] == "list_people":
                salaries = {one["id"]: one["salary"] for one in _people("admin")}
                found = {"people": sorted(_people(role), key=lambda one: salaries[one["id"]])}
            else:
                before = role
            result = {"content": [{"type": "text", "text": ""}], "structuredContent": found}
        answer: dict[str, Any] = {"result": result}
        if method not in ("initialize", "tools/list", "tools/call"):
            answer = {"error": {"code": -32601, "message": "no such method"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
