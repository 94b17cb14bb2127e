"""A personnel server without any SDK, under a small policy, with a fault in it on request.

Starts in some 20 ms.

``python policed_server.py FAULT [FILE]``

An administrator sees everything. A clerk sees everybody without what they earn. Nobody in
particular sees nothing, and ``set_salary`` exists for administrators alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
IDENTITY = "harness/user_context"
PEOPLE = {
    "P-1007": {
        "person_id": "P-1007",
        "name": "Ada Quist",
        "team": "blue",
        "salary": 64512,
        "mail": "ada@example.com",
    },
    "P-1008": {
        "person_id": "P-1008",
        "name": "Bo Lindh",
        "team": "blue",
        "salary": 71338,
        "mail": "bo@example.com",
    },
    "P-1009": {
        "person_id": "P-1009",
        "name": "Cy Ram",
        "team": "green",
        "salary": 64512,
        "mail": "cy@example.com",
    },
}
PERSON = {
    "type": "string",
    "pattern": r"^P-\d{4}$",
    "description": "Id of the person, such as P-1001.",
}
OPTIONS = {"type": "object", "properties": {"language": {"type": "string"}}}
LIMIT = {"limit": {"type": "integer"}}
MORE: dict[str, dict[str, Any]] = {
    "nested_argument": {"options": OPTIONS},
    "flag": {"include_salary": {"type": "boolean"}},
    "detail": {"detail": {"type": "string", "enum": ["short", "full"]}},
    **dict.fromkeys(["no_limit", "zero_limit", "huge_limit"], LIMIT),
    "none": {"options": OPTIONS, "detail": {"type": "string", "enum": ["short", "full"]}, **LIMIT},
}
"""Fault → what its tools take as well."""
TEAM = {"type": "string", "enum": ["blue", "green"], "description": "Name of the team."}


def tool(name: str, description: str, **properties: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in ("person_id", "team", "salary")],
        "additionalProperties": False,
    }
    reads = {"readOnlyHint": not name.startswith("set_")}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": reads}


TOOLS = [
    tool(
        "get_person",
        "Show the record of one person by id: name, team, mail and salary.",
        person_id=PERSON,
        **MORE.get(FAULT, {}),
    ),
    tool("list_team", "List all members of a team.", team=TEAM, **MORE.get(FAULT, {})),
    tool(
        "set_salary", "Change the salary of a person.", person_id=PERSON, salary={"type": "integer"}
    ),
]


LOOSE: dict[str, Callable[[str], bool]] = {
    "begins": lambda role: role.startswith("admin"),
    "ends": lambda role: role.endswith("admin"),
    "contains": lambda role: "admin" in role,
    "begins_like": lambda role: role != "" and "admin".startswith(role),
    "listed": lambda role: "admin" in role.split(","),
    "lookalike": lambda role: role.replace("\u0430", "a").replace("\u0456", "i") == "admin",
    "wildcard": lambda role: role == "*",
    "sql": lambda role: "' OR '" in role,
}
"""Ways in which a role that is not ``admin`` is taken for it."""


SMUGGLED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "role_argument": lambda arguments: arguments.get("role"),
    "as_role_argument": lambda arguments: arguments.get("as_role"),
    "context_argument": lambda arguments: (arguments.get("user_context") or {}).get("role"),
    "identity_argument": lambda arguments: (arguments.get("identity") or {}).get("role"),
    "meta_argument": lambda arguments: (
        (arguments.get("_meta") or {}).get(IDENTITY) or arguments.get("_meta") or {}
    ).get("role"),
    "admin_argument": lambda arguments: "admin" if arguments.get("is_admin") is True else None,
    "nested_argument": lambda arguments: (arguments.get("options") or {}).get("role"),
}
"""Arguments out of which a role is taken, over what the request says."""


BENT: dict[str, Callable[[dict[str, Any]], bool]] = {
    "wildcard": lambda arguments: arguments.get("person_id") == "*",
    "sql_wildcard": lambda arguments: arguments.get("person_id") == "%",
    "no_id": lambda arguments: arguments.get("person_id") == "",
    "case_of_id": lambda arguments: arguments.get("person_id", "").startswith("p-"),
    "spaces": lambda arguments: arguments.get("person_id", "").startswith(" "),
    "flag": lambda arguments: arguments.get("include_salary") is True,
    "undeclared_flag": lambda arguments: arguments.get("unmask") is True,
    "detail": lambda arguments: arguments.get("detail") == "full",
    "no_limit": lambda arguments: arguments.get("limit", 9) < 0,
    "zero_limit": lambda arguments: arguments.get("limit", 9) == 0,
    "huge_limit": lambda arguments: arguments.get("limit", 9) > 10**6,
    "patient": lambda arguments: in_a_row(arguments) > 16,  # each call is looked at twice
}
"""Arguments that open the door to whoever asks."""
LATEST: dict[str, tuple[str, int]] = {}
"""Caller → the arguments of the latest call, and how often they were looked at in a row."""


def in_a_row(arguments: dict[str, Any]) -> int:
    """Return how often the arguments of the caller's call were looked at without others between."""
    caller, asked = json.dumps(CALLER.get(IDENTITY)), json.dumps([CALLER, arguments])
    before, count = LATEST.get(caller, ("", 0))
    LATEST[caller] = (asked, count + 1 if before == asked else 1)
    return LATEST[caller][1]


CALLER: dict[str, Any] = {}
"""The metadata of the call, which say who asks."""
KEPT: list[str] = []
"""The roles of all requests so far that had one."""


def kept(role: str) -> str:
    """Return the role that a server takes a caller for if it keeps who asked before."""
    if role != "nobody":
        KEPT.append(role)
    if FAULT == "first_kept" and KEPT:
        return KEPT[0]
    return KEPT[-1] if FAULT in ("remembers", "erasing") and KEPT else role


def role_of(params: dict[str, Any]) -> str:
    if FAULT == "blind":
        return "admin"
    if FAULT in SMUGGLED and (role := SMUGGLED[FAULT](params.get("arguments") or {})):
        return str(role)
    user = (params.get("_meta") or {}).get(IDENTITY) or {}
    CALLER.clear()
    CALLER.update(params.get("_meta") or {})
    if FAULT in BENT and BENT[FAULT](params.get("arguments") or {}):
        return "admin"
    role = user.get("role", "nobody")
    merged = FAULT == "request_meta" and user and params.get("name") == "get_person"
    if "BY_ENVIRONMENT" in os.environ and not merged:
        role = os.environ.get("ROLE") or "nobody"
    if FAULT == "brittle" and not isinstance(role, str):
        sys.exit(3)
    role = kept(str(role))
    return "admin" if FAULT in LOOSE and LOOSE[FAULT](role) else role


def listed(role: str) -> list[dict[str, Any]]:
    return TOOLS if role == "admin" else TOOLS[:2]


def found(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if FAULT in ("wildcard", "sql_wildcard", "no_id") and BENT[FAULT](arguments):
        return {"people": [dict(one) for one in PEOPLE.values()]}
    if FAULT in ("case_of_id", "spaces") and name == "get_person":
        return dict(PEOPLE[arguments["person_id"].strip().upper()])
    if name == "get_person":
        return dict(PEOPLE[arguments["person_id"]])
    return {"members": [dict(one) for one in PEOPLE.values() if one["team"] == arguments["team"]]}


def filtered(result: Any) -> Any:
    if isinstance(result, dict):
        return {key: filtered(part) for key, part in result.items() if key != "salary"}
    return [filtered(part) for part in result] if isinstance(result, list) else result


def refusal(result: dict[str, Any]) -> dict[str, Any]:
    text = "Access denied: personnel data is for staff."
    if FAULT == "quoting" and "salary" in result:
        text = (
            f"Access denied: {result['name']} earns {result['salary']:,}, which is for staff alone."
        )
    more = {"structuredContent": result} if FAULT == "denied_with_data" else {}
    return {"content": [{"type": "text", "text": text}], "isError": True, **more}


def called(name: str, arguments: dict[str, Any], role: str) -> dict[str, Any]:
    if FAULT == "erasing" and name == "set_salary":
        Path(sys.argv[2]).write_text("all people are gone, for every process")
    if FAULT == "erasing" and Path(sys.argv[2]).exists():
        PEOPLE.clear()
    if name not in {tool["name"] for tool in TOOLS}:
        text = f"There is no tool {name}."
        return {"content": [{"type": "text", "text": text}], "isError": True}
    is_bent = FAULT in BENT and BENT[FAULT](arguments)
    if arguments.get("person_id", "P-1007") not in PEOPLE and not is_bent:
        return {
            "content": [{"type": "text", "text": "There is nobody with this id."}],
            "isError": True,
        }
    result = found(name, arguments)
    if FAULT in ("foreign_id", "own_rows") and role == "clerk":
        if name == "list_team":
            result["members"] = result["members"][:1]
        elif FAULT == "own_rows" and arguments["person_id"] != "P-1007":
            return refusal({})
    if FAULT == "echoing":
        result["asked"] = arguments
    if role not in ("admin", "clerk") and not (FAULT == "public" and role == "nobody"):
        return refusal(result)
    shown = (
        result
        if role in ("admin", "nobody") or (FAULT == "forgetful" and name == "list_team")
        else filtered(result)
    )
    structured = result if FAULT == "structured" else shown
    return {
        "content": [{"type": "text", "text": json.dumps(shown)}],
        "structuredContent": structured,
    }


CACHE: dict[str, Any] = {}


def cached(name: str, arguments: dict[str, Any], role: str) -> dict[str, Any]:
    """Answer as whoever asked first was answered: the cache forgets who that was.

    It is a file if one is named, else it is gone with the process.
    """
    file = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    known = json.loads(file.read_text()) if file is not None and file.exists() else CACHE
    key = json.dumps([name, arguments])
    if key not in known:
        known[key] = called(name, arguments, role)
        if file is not None:
            file.write_text(json.dumps(known))
    return dict(known[key])


def answer_to(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        server = {"name": "policed", "version": "1"}
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": server,
        }
    if method == "tools/list":
        return {"tools": listed(role_of(params))}
    if method == "tools/call":
        return (cached if FAULT == "cached" else called)(
            params["name"], params["arguments"], role_of(params)
        )
    return None


AT_THE_DOOR = {
    "gated": {"code": -32001, "message": "Unauthorized: please sign in"},
    "broken_for_nobody": {"code": -32603, "message": "the database is down"},
}
"""What whoever has no role is told in place of everything but the handshake."""


def main() -> None:
    if FAULT == "exclusive":
        database = Path(sys.argv[2]).open("w")  # noqa: SIM115 - locked until the process ends
        try:
            fcntl.flock(database, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("the database is locked by another process")
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request:
            continue
        params = request.get("params") or {}
        if FAULT in AT_THE_DOOR and "tools/" in request["method"] and role_of(params) == "nobody":
            body: dict[str, Any] = {"error": AT_THE_DOOR[FAULT]}
        elif (result := answer_to(request["method"], params)) is None:
            body = {"error": {"code": -32601, "message": "Method not found"}}
        else:
            body = {"result": result}
        sys.stdout.buffer.write(
            json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}).encode() + b"\n"
        )
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
