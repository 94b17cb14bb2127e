"""An MCP server with the tools of a JSON file, which answers each call with its arguments.

``python worded_server.py TOOLS.json [FRAMES]``: a list of tools as in ``tools/list``, or an object
with ``tools`` and ``instructions``; and a file to which every message that it gets is added. For
tests of what words do: starts in some 20 ms.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

INFO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "worded", "version": "1"},
}


def serve(shown: Any, frames: str = "") -> None:
    tools = shown if isinstance(shown, list) else shown["tools"]
    info = INFO if isinstance(shown, list) else {**INFO, "instructions": shown["instructions"]}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if frames:
            with Path(frames).open("ab") as file:
                file.write(line)
        if "id" in request:
            answer = {"jsonrpc": "2.0", "id": request["id"], **reply(request, tools, info)}
            sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
            sys.stdout.buffer.flush()


def reply(
    request: dict[str, Any], tools: list[dict[str, Any]], info: dict[str, Any]
) -> dict[str, Any]:
    method = request["method"]
    if method == "initialize":
        return {"result": info}
    if method == "tools/list":
        return {"result": {"tools": tools}}
    if method == "ping":
        return {"result": {}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "Method not found"}}
    params = request["params"]
    if params["name"] not in [tool["name"] for tool in tools]:
        return {"error": {"code": -32602, "message": f"Unknown tool: {params['name']}"}}
    text = json.dumps({"tool": params["name"], **params.get("arguments", {})})
    return {"result": {"content": [{"type": "text", "text": text}]}}


if __name__ == "__main__":
    serve(json.loads(Path(sys.argv[1]).read_text("utf-8")), *sys.argv[2:3])
