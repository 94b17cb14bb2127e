"""An MCP server without any SDK that withholds fields from agents, and tells them all the same.

``python telling_server.py [FAULT] [of somebody else]``

`get_customer` is correct: administrators see everything, agents see no e-mail address, no card, no
note and no salary. Every other tool tells an agent one of these values in a way of its own; a FAULT
tells it outside of any call, and leaves `get_customer` alone. With ``of somebody else`` the values
that are told are nobody's, so that nothing is wrong.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
IS_CLEAN = "of somebody else" in sys.argv
EMAIL = "ines.okafor@example.com"
CARD = "4929 1234 5678 9012"
NOTE = "Pays late since the merger, ask Tomas before any refund"
PUBLIC = {"customer_id": "C-17", "name": "Ines Okafor", "city": "Lisbon"}
RECORD = {**PUBLIC, "email": EMAIL, "card": CARD, "note": NOTE, "salary": 64_512}
SALARY = 71_388 if IS_CLEAN else 64_512
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


def in_meta(_: int) -> dict[str, Any]:
    return text("Nothing.", _meta={"org.example/trace": {"for": EMAIL}})


def in_meta_of_a_block(_: int) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "Nothing.", "_meta": {"about": ENCODED}}]}


def in_a_blob(_: int) -> dict[str, Any]:
    resource = {"uri": "customer://17", "mimeType": "text/csv", "blob": b64(f"17;{EMAIL};x")}
    return {"content": [{"type": "resource", "resource": resource}]}


def in_a_link(_: int) -> dict[str, Any]:
    link = {"type": "resource_link", "uri": "customer://17", "name": "17", "description": EMAIL}
    return {"content": [link]}


def in_an_unknown_key(_: int) -> dict[str, Any]:
    return text("Nothing.", debug={"row": EMAIL})


def in_a_log_message(_: int) -> dict[str, Any]:
    notify("notifications/message", level="info", data={"sql": f"… where email = '{EMAIL}'"})
    return text("Nothing.")


def on_stderr(_: int) -> dict[str, Any]:
    sys.stderr.write(f"INFO row of {EMAIL}\n")
    sys.stderr.flush()
    return text("Nothing.")


def in_progress(request: int) -> dict[str, Any]:
    notify("notifications/progress", progressToken=request, progress=0.5, message=f"Read {EMAIL}")
    return text("Nothing.")


def notify(method: str, **params: Any) -> None:
    send({"jsonrpc": "2.0", "method": method, "params": params})


MASKS = {
    "in_a_thin_mask": "ines.okafor@example.c**",
    "in_a_good_mask": "i***@example.com",
}
"""Tool → what it gives to agents in place of the e-mail address."""
CALLS: dict[str, Callable[[int], dict[str, Any]]] = {
    "in_meta": in_meta,
    "in_meta_of_a_block": in_meta_of_a_block,
    "in_a_blob": in_a_blob,
    "in_a_link": in_a_link,
    "in_an_unknown_key": in_an_unknown_key,
    "in_a_log_message": in_a_log_message,
    "in_progress": in_progress,
    "in_cents": lambda _: both({"customer_id": "C-17", "salary_cents": 100 * SALARY}),
    "in_thousands": lambda _: both({"customer_id": "C-17", "salary_k": SALARY / 1_000}),
    "rounded": lambda _: both({"customer_id": "C-17", "salary_band": round(SALARY, -3)}),
    "on_stderr": on_stderr,
    "refused_with_the_value": refused_with_the_value,
    "second_block": second_block,
    "embedded_text": embedded_text,
}
"""Tool → its answer to the request of that id."""


def call(request: dict[str, Any]) -> dict[str, Any]:
    params = request["params"]
    user = (params.get("_meta") or {}).get("harness/user_context") or {}
    name = params["name"]
    if not user:
        return text("Access denied: sign in first", isError=True)
    if name == "get_customer":
        return both(RECORD if user.get("role") == "admin" else PUBLIC)
    if name in MASKS:
        mail = SECRET if user.get("role") == "admin" else MASKS[name]
        return both({**PUBLIC, "email": "***" if IS_CLEAN else mail})
    return both(FIELDS[name]) if name in FIELDS else CALLS[name](request["id"])


def tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {}}
    listed: list[dict[str, Any]] = [
        {"name": name, "inputSchema": schema, "annotations": {"readOnlyHint": True}}
        for name in ("get_customer", *(() if FAULT else (*FIELDS, *MASKS, *CALLS)))
    ]
    if FAULT == "description":
        listed[0]["description"] = f"Look up a customer, such as {SECRET}"
    if FAULT == "example":
        listed[0]["inputSchema"] = {**schema, "examples": [{"mail": SECRET}]}
    if FAULT == "meta_of_a_tool":
        listed[0]["_meta"] = {"sample": SECRET}
    if FAULT == "title":
        listed[0]["annotations"]["title"] = f"Customer {SECRET}"
    return listed


def begun(request: dict[str, Any]) -> dict[str, Any]:
    able: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
    return {
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": able,
        "serverInfo": {"name": "telling", "version": "1"},
        "instructions": f"Ask {SECRET if FAULT == 'instructions' else 'us'}",
    }


def resources() -> dict[str, Any]:
    words = f"of {SECRET if FAULT == 'list_of_resources' else 'them'}"
    return {"resources": [{"uri": "customer://17", "name": "17", "description": words}]}


def resource() -> dict[str, Any]:
    row = SECRET if FAULT == "resource" else "Lisbon"
    return {"contents": [{"uri": "customer://17", "text": f"17;{row}"}]}


def prompt() -> dict[str, Any]:
    words = f"Greet {SECRET if FAULT == 'prompt' else 'them'}"
    return {"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}


METHODS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "initialize": begun,
    "tools/list": lambda _: {"tools": tools()},
    "tools/call": call,
    "resources/list": lambda _: resources(),
    "resources/read": lambda _: resource(),
    "prompts/list": lambda _: {"prompts": [{"name": "greet"}]},
    "prompts/get": lambda _: prompt(),
    "logging/setLevel": lambda _: {},
    "ping": lambda _: {},
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer = {"error": {"code": -32601, "message": "no such method"}}
        if (method := METHODS.get(request["method"])) is not None:
            answer = {"result": method(request)}
        send({"jsonrpc": "2.0", "id": request["id"], **answer})


if __name__ == "__main__":
    main()
