"""A server of notes and mails without any SDK, as open as its arguments say.

A clerk may never send mails; an administrator may. Anybody may write into a note. Arguments:

- ``hole``: the role is not looked at, so that a clerk sends mails, too.
- ``flow``: whoever has read a note in this process sends nothing any more.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SETTINGS = frozenset(sys.argv[1:])
TEXT = {"type": "string"}
TOOLS = {
    "read_note": ({"note": TEXT}, True),
    "send_mail": ({"to": TEXT, "text": TEXT}, False),
    "list_mails": ({"box": TEXT}, True),
}
done: set[str] = set()


def call(name: str, arguments: dict[str, Any], role: str) -> tuple[str, bool]:
    refused = name == "send_mail" and role != "admin" and "hole" not in SETTINGS
    refused |= name == "send_mail" and "flow" in SETTINGS and "read_note" in done
    done.add(name)
    if refused:
        return "Permission denied.", True
    if name == "list_mails" and arguments.get("box") != "in":
        return "there is no such box", True
    return json.dumps({"note": arguments.get("note"), "text": "Meet on Monday."}), False


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    context = (params.get("_meta") or {}).get("harness/user_context") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "mails", "version": "1"},
        }
    if method == "tools/list":
        return {
            "tools": [
                {
                    "name": name,
                    "description": f"{name.replace('_', ' ').capitalize()}.",
                    "inputSchema": {
                        "type": "object",
                        "properties": properties,
                        "required": list(properties),
                    },
                    "annotations": {"readOnlyHint": reads},
                }
                for name, (properties, reads) in TOOLS.items()
            ]
        }
    if method == "tools/call":
        text, failed = call(params["name"], params.get("arguments") or {}, context.get("role", ""))
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], message.get("params") or {})
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            sys.stdout.write(f"{json.dumps(reply)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
