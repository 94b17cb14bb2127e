"""An MCP server without any SDK that withholds fields from agents, and tells them all the same.

``python telling_server.py [FAULT] [of somebody else]``

`get_customer` is correct: administrators see everything, agents see no e-mail address, no card, no
note and no salary. Every other tool tells an agent one of these values in a way of its own; a FAULT
tells it outside of any call. With ``of somebody else`` the values that are told are nobody's, so
that nothing is wrong.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any
from urllib.parse import quote

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
IS_CLEAN = "of somebody else" in sys.argv
EMAIL = "ines.okafor@example.com"
CARD = "4929 1234 5678 9012"
NOTE = "Pays late since the merger, ask Tomas before any refund"
PUBLIC = {"customer_id": "C-17", "name": "Ines Okafor", "city": "Lisbon"}
RECORD = {**PUBLIC, "email": EMAIL, "card": CARD, "note": NOTE, "salary": 64_512}
SECRET = EMAIL
if IS_CLEAN:
    EMAIL = "ines.okafor@example.net"
    NOTE = "Pays on time since the merger, ask Tomas before any refund"
LAST = 3 if IS_CLEAN else 2
"""The last digit of the card that is told."""
ENCODED = base64.b64encode(EMAIL.encode()).decode()


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FIELDS: dict[str, Any] = {
    "another_name": {"login": EMAIL},
    "another_record": {"id": 5, "actor": EMAIL, "did": "opened"},
    "as_a_name": {"visits": {EMAIL: 3}},
    "in_base64": {"token": ENCODED},
    "in_base64_unpadded": {"token": ENCODED.rstrip("=")},
    "in_base64_url": {"token": base64.urlsafe_b64encode(f"??>{EMAIL}".encode()).decode()},
    "in_a_cursor": {"cursor": b64(json.dumps({"after": EMAIL}))},
    "in_base32": {"token": base64.b32encode(EMAIL.encode()).decode()},
    "in_hex": {"token": EMAIL.encode().hex()},
    "in_url_escapes": {"link": f"mailto:{quote(EMAIL, safe='')}"},
    "in_html": {"html": "".join(f"&#{ord(letter)};" for letter in EMAIL)},
    "in_json_in_a_string": {"raw": json.dumps('{"m": "' + EMAIL.replace("i", "\\u0069") + '"}')},
    "reversed_": {"key": EMAIL[::-1]},
    "in_capitals": {"label": EMAIL.upper()},
    "in_wide_letters": {"label": "".join(chr(ord(letter) + 0xFEE0) for letter in EMAIL)},
    "with_invisible_signs": {"label": "\u200b".join(EMAIL)},
    "in_other_scripts": {"label": EMAIL.replace("e", "\u0435")},
    "with_at_and_dot": {"label": EMAIL.replace("@", " [at] ").replace(".", " dot ")},
    "twice_encoded": {"token": b64(EMAIL.encode().hex())},
    "split_over_fields": dict(zip(("local", "domain"), EMAIL.split("@"), strict=True)),
    "split_over_items": {"parts": ["4929", "1234", "5678", f"901{LAST}"]},
    "grouped": {"ref": f"4929-123456-78901{LAST}"},
    "spelled_out": {
        "say": "four nine two nine, one two three four, five six seven eight, nine zero one "
        + ("three" if IS_CLEAN else "two")
    },
    "long_text": {"remark": f"{NOTE}!"},
    "in_a_sentence": {"summary": f"Ines Okafor (write to {EMAIL}) lives in Lisbon."},
}
"""Tool → what it gives to everybody."""


def send(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def both(value: Any) -> dict[str, Any]:
    return text(json.dumps(value), structuredContent=value)


def refused_with_the_value(_: int) -> dict[str, Any]:
    return text(f"Access denied: {ENCODED} is for administrators", isError=True)


def second_block(_: int) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "One customer."}, {"type": "text", "text": EMAIL}]}


def embedded_text(_: int) -> dict[str, Any]:
    resource = {"uri": "customer://17", "text": f"Mail: {EMAIL}"}
    return {"content": [{"type": "resource", "resource": resource}]}


CALLS = {
    "refused_with_the_value": refused_with_the_value,
    "second_block": second_block,
    "embedded_text": embedded_text,
}
"""Tool → its answer to the request of that id."""


def call(request: dict[str, Any]) -> dict[str, Any]:
    params = request["params"]
    user = (params.get("_meta") or {}).get("io.github.harness/user_context") or {}
    name = params["name"]
    if not user:
        return text("Access denied: sign in first", isError=True)
    if name == "get_customer":
        return both(RECORD if user.get("role") == "admin" else PUBLIC)
    return both(FIELDS[name]) if name in FIELDS else CALLS[name](request["id"])


def tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {}}
    listed = [
        {"name": name, "inputSchema": schema, "annotations": {"readOnlyHint": True}}
        for name in ("get_customer", *FIELDS, *CALLS)
    ]
    if FAULT == "description":
        listed[0]["description"] = f"Look up a customer, such as {SECRET}"
    if FAULT == "example":
        listed[0]["inputSchema"] = {**schema, "examples": [{"mail": SECRET}]}
    return listed


def handle(request: dict[str, Any]) -> dict[str, Any] | None:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            about = {"name": "telling", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": tools()}
        case "tools/call":
            return call(request)
        case "ping":
            return {}
    return None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = handle(request)
        answer = {"error": {"code": -32601, "message": "no such method"}}
        if result is not None:
            answer = {"result": result}
        send({"jsonrpc": "2.0", "id": request["id"], **answer})


if __name__ == "__main__":
    main()
