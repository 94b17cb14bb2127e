"""An MCP server that kills the process which started it, when its tool ``kill`` is called.

``python killing_server.py FILE [anything]`` adds a line to FILE for each call.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

ANY_OBJECT = {"type": "object"}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "killing", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": ANY_OBJECT} for name in ("kill", "echo")]}
    with Path(sys.argv[1]).open("a") as file:
        file.write(f"{params['name']}\n")
    if params["name"] == "kill":
        os.kill(os.getppid(), signal.SIGKILL)
    return {"content": [{"type": "text", "text": "done"}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply["result"] = answer(message["method"], message.get("params") or {})
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
