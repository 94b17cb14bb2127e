"""A personnel server without any SDK that may tell of what it withholds, in ways without a value.

Starts in some 20 ms.

``python telling_server.py FAULTS [SEED]``, with several faults joined by commas

An administrator sees everything. A clerk sees everybody without what they earn, and nobody who is
confidential. Nobody in particular sees nothing. Environment variables alter the data: ``SALARY``
is what the person ``P-1003`` earns, and ``ABSENT`` takes a person out. ``set_salary`` does it, too,
and ``reset_data`` takes it back.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import sys
from typing import Any

FAULTS = frozenset(sys.argv[1].split(",")) if len(sys.argv) > 1 else frozenset()
CHANCE = random.Random(sys.argv[2] if len(sys.argv) > 2 else "1")
IDENTITY = "harness/user_context"
TEAMS = ("blue", "green")
NOISE = random.Random()


def people() -> list[dict[str, Any]]:
    """Return everybody, in the order of their ids."""
    made = [
        {
            "person_id": f"P-{1001 + number}",
            "name": f"Person {CHANCE.randrange(10**6)}",
            "team": TEAMS[number % 2],
            "salary": CHANCE.randrange(40_000, 90_000),
            "confidential": number == 4,
        }
        for number in range(8)
    ]
    made[2]["salary"] = int(os.environ.get("SALARY") or 61_250)
    return [one for one in made if one["person_id"] != os.environ.get("ABSENT")]


PEOPLE = people()
STRING = {"type": "string"}
LISTED = {
    "team": {"type": "string", "enum": list(TEAMS)},
    "query": {"type": "string", "description": "A part of the name."},
    "sort_by": STRING,
    "min_salary": {"type": "integer"},
    "limit": {"type": "integer"},
    "cursor": STRING,
}
PERSON = {"type": "string", "pattern": r"^P-\d{4}$", "description": "Such as P-1001."}


def tool(name: str, description: str, properties: dict[str, Any], *required: str) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    reads = {"readOnlyHint": not name.startswith(("set_", "reset_"))}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": reads}


def listed(role: str) -> list[dict[str, Any]]:
    most = max(one["salary"] for one in PEOPLE)
    told = f" Nobody earns more than {most}." if "described" in FAULTS else ""
    tools = [
        tool("list_people", f"List the people of a team.{told}", LISTED, "team"),
        tool("get_person", "Show one person by id.", {"person_id": PERSON}, "person_id"),
        tool("count_people", "Count the people of a team.", {"team": LISTED["team"]}, "team"),
    ]
    change = {"person_id": PERSON, "salary": {"type": "integer"}}
    changing = [
        tool("set_salary", "Change a salary.", change, *change),
        tool("reset_data", "Take back all changes.", {}),
    ]
    return tools + (changing if role == "admin" else [])


def error(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def shown(one: dict[str, Any], role: str) -> dict[str, Any]:
    if role == "admin":
        return dict(one)
    kept = {key: value for key, value in one.items() if key not in ("salary", "confidential")}
    if "rounded" in FAULTS:
        kept["band"] = one["salary"] // 10_000
    if "same_name" in FAULTS:
        kept["salary"] = round(one["salary"], -4)
    if "masked" in FAULTS:
        kept["salary"] = "*" * len(str(one["salary"]))
    if "digest" in FAULTS:
        kept["etag"] = hashlib.sha256(json.dumps(one).encode()).hexdigest()[:12]
    return kept


def chosen(arguments: dict[str, Any], role: str) -> list[dict[str, Any]]:
    found = [one for one in PEOPLE if one["team"] == arguments["team"]]
    if role != "admin":
        found = [one for one in found if not one["confidential"]]
    free = role == "admin"
    query, least = str(arguments.get("query", "")), arguments.get("min_salary")
    texts = ("name", "salary") if free or "search" in FAULTS else ("name",)
    if isinstance(least, int) and (free or "filter" in FAULTS):
        found = [one for one in found if one["salary"] >= least]
    if "language" in FAULTS and "=" in query:
        query, (key, _, value) = "", query.partition("=")
        found = [one for one in found if str(one.get(key)) == value]
    found = [one for one in found if any(query in str(one[key]) for key in texts)]
    if "undeclared" in FAULTS and isinstance(arguments.get("salary"), int):
        found = [one for one in found if one["salary"] == arguments["salary"]]
    by_salary = arguments.get("sort_by") == "salary" and (free or "sort" in FAULTS)
    if by_salary or "order" in FAULTS:
        found.sort(key=lambda one: -one["salary"])
    return found


def list_people(arguments: dict[str, Any], role: str) -> dict[str, Any]:
    found = chosen(arguments, role)
    limit = arguments.get("limit")
    most = sum(one["team"] == arguments["team"] for one in PEOPLE)
    if "limit_error" in FAULTS and isinstance(limit, int) and limit > most:
        return error(f"The limit is at most {most}.")
    if "top" in FAULTS and limit == 1:
        found.sort(key=lambda one: -one["salary"])
    page = found[:limit] if isinstance(limit, int) and limit > 0 else found
    result: dict[str, Any] = {"people": [shown(one, role) for one in page], "total": len(found)}
    whole = [one for one in PEOPLE if one["team"] == arguments["team"]]
    if "total" in FAULTS:
        result["total"] = len(whole)
    if "sum" in FAULTS:
        result["payroll"] = sum(one["salary"] for one in whole)
    if "average" in FAULTS:
        result["average"] = round(sum(one["salary"] for one in whole) / len(whole))
    if "more" in FAULTS:
        result["has_more"] = len(whole) > len(page)
    if "cursor" in FAULTS and page:
        result["cursor"] = base64.b64encode(str(page[-1]["salary"]).encode()).decode()
    if "paged" in FAULTS and role != "admin":
        turned = arguments.get("cursor") == "page-2"
        sorted_rows = sorted(found, key=lambda one: one["salary"])
        result["people"] = [shown(one, role) for one in (sorted_rows[2:] if turned else found[:2])]
        result["next_cursor"] = "page-2"
    if "pages" in FAULTS and role != "admin":
        result["people"] = [shown(one, role) for one in whole[:3] if not one["confidential"]]
    return result


def count_people(arguments: dict[str, Any], role: str) -> dict[str, Any]:
    everybody = role == "admin" or "count" in FAULTS
    found = [one for one in PEOPLE if one["team"] == arguments["team"]]
    return {"people": sum(everybody or not one["confidential"] for one in found)}


def get_person(arguments: dict[str, Any], role: str) -> dict[str, Any]:
    one = next((one for one in PEOPLE if one["person_id"] == arguments.get("person_id")), None)
    if one is not None and one["confidential"] and role != "admin":
        if "oracle" in FAULTS:
            return error("Access denied: this person is confidential.")
        one = None
    if one is None:
        given = str(arguments.get("person_id"))
        near = [one["person_id"] for one in PEOPLE if one["person_id"].startswith(given)]
        hint = f" Did you mean one of {', '.join(near)}?" if "suggest" in FAULTS else ""
        return error(f"There is nobody with this id.{hint}")
    return answer(shown(one, role))


def answer(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with what varies by itself: an id, a time and a word by chance."""
    result["request_id"] = f"{NOISE.getrandbits(64):x}"
    result["took_ms"] = NOISE.randrange(1, 300)
    result["tip"] = NOISE.choice(["Have a nice day", "Take a break", "Drink water"])
    meta = {"_meta": {"paid": max(one["salary"] for one in PEOPLE)}} if "meta" in FAULTS else {}
    text = json.dumps(result)
    return {"content": [{"type": "text", "text": text}], "structuredContent": result, **meta}


def notify() -> None:
    """Tell how much there is to look through, while a call is under way."""
    params = {"level": "info", "data": f"paid: {sum(one['salary'] for one in PEOPLE)}"}
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    sys.stdout.buffer.write(json.dumps(note).encode() + b"\n")


def change(arguments: dict[str, Any]) -> dict[str, Any]:
    person_id = arguments.get("person_id", "P-1003")
    one = next((one for one in PEOPLE if one["person_id"] == person_id), None)
    if one is None:
        return error("There is nobody with this id.")
    one["salary"] = arguments.get("salary", 61_250)
    return answer({"changed": True})


def called(name: str, arguments: dict[str, Any], role: str) -> dict[str, Any]:
    if role not in ("admin", "clerk"):
        return error("Access denied: personnel data is for staff.")
    if name in ("set_salary", "reset_data"):
        return change(arguments) if role == "admin" else error(f"Unknown tool: {name}")
    if "notified" in FAULTS:
        notify()
    if name == "get_person":
        return get_person(arguments, role)
    if arguments.get("team") not in TEAMS:
        return error("There is no such team.")
    found = {"list_people": list_people, "count_people": count_people}[name](arguments, role)
    return found if "isError" in found else answer(found)


def answer_to(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    user = (params.get("_meta") or {}).get(IDENTITY) or {}
    role = str(user.get("role", "nobody"))
    if method == "resources/list" and "resource" in FAULTS:
        uri = {"uri": "people://all", "name": f"All {len(PEOPLE)} people"}
        return {"resources": [uri]}
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "logging": {}, "resources": {}},
            "serverInfo": {"name": "telling", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": listed(role)}
    if method == "tools/call":
        return called(params["name"], params["arguments"], role)
    return None


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer_to(request["method"], request.get("params") or {})
        body = (
            {"error": {"code": -32601, "message": "Method not found"}}
            if result is None
            else {"result": result}
        )
        reply = {"jsonrpc": "2.0", "id": request["id"], **body}
        sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
