"""What Claude Code and Codex write, without their models: ``python stand_ins.py PROGRAM MANNER …``.

The real programs are met in `tests.agents.test_verdicts`; these say what those say seldom.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.agents.agent import Server

LIMIT = "You have hit your limit."


def write(*lines: dict[str, Any]) -> None:
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")


def claude(manner: str, options: list[str]) -> int:
    (name,) = json.loads(Path(os.environ["HARNESS_MCP_CONFIG"]).read_text())["mcpServers"]
    status = "failed" if manner == "unconnected" else "connected"
    init = {"type": "system", "subtype": "init", "mcp_servers": [{"name": name, "status": status}]}
    own = [{"type": "tool_use", "name": tool} for tool in ("Bash", "Bash", f"mcp__{name}__echo")]
    said = {"type": "assistant", "message": {"model": "m-1", "content": own}}
    used = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 2}
    result = {
        "type": "result",
        "subtype": "success",
        "result": f"{sys.stdin.read()} {' '.join(options)}",
        "session_id": "s-1",
        "usage": used,
        "total_cost_usd": 0.25,
    }
    match manner:
        case "limit":
            write(init, {**result, "is_error": True, "result": LIMIT})
            return 1
        case "cut":
            write(init, said)
            return 1
        case "refusal":
            write(init, {**result, "stop_reason": "refusal"})
        case _:
            write(init, said, result)
    return 0


def codex(manner: str, options: list[str]) -> int:
    started = {"type": "thread.started", "thread_id": "t-1"}
    own = {"type": "item.completed", "item": {"type": "command_execution"}}
    answer = {"type": "agent_message", "text": f"{sys.stdin.read()} {' '.join(options)}"}
    turns = 2 if "resume" in options else 1
    used = {"input_tokens": 100 * turns, "cached_input_tokens": 10 * turns, "output_tokens": turns}
    match manner:
        case "limit":
            write(started, {"type": "turn.failed", "error": {"message": LIMIT}})
            return 1
        case _:
            done = {"type": "turn.completed", "usage": used}
            write(started, own, {"type": "item.completed", "item": answer}, done)
    return 0


if __name__ == "__main__":
    if sys.argv[-1] == "--version":
        sys.stdout.write("7.7.7 (stand-in)\n")
        sys.exit(0)
    Server().call("echo", {"n": 1})
    sys.exit({"claude": claude, "codex": codex}[sys.argv[1]](sys.argv[2], sys.argv[3:]))
