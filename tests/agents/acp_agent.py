"""An agent that speaks ACP, without its SDK: ``python acp_agent.py MANNER [MARKER]``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.agents.agent import Server

TURNS: dict[str, list[str]] = {}
SERVERS: list[Server] = []


class Piped(Server):
    """A server that is started as a process, as the protocol has it for all agents."""

    def __init__(self, entry: dict[str, Any]) -> None:
        env = {one["name"]: one["value"] for one in entry["env"]}
        self.process = subprocess.Popen(
            [entry["command"], *entry["args"]],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        super().__init__()

    def ask(self, method: str, params: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        number = {} if method.startswith("notifications/") else {"id": 1}
        message = {"jsonrpc": "2.0", "method": method, "params": params, **number}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline()) if number else None


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def received() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message: dict[str, Any] = json.loads(line)
    return message


def update(session: str, **facts: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": facts}})


def say(session: str, text: str) -> None:
    content = {"type": "text", "text": text}
    update(session, sessionUpdate="agent_message_chunk", content=content)


def permitted(session: str, kind: str) -> str:
    """Ask for permission to use a tool of that kind, and return what was chosen."""
    options = [{"optionId": f"id-{one}", "kind": one} for one in ("allow_once", "reject_once")]
    params = {"sessionId": session, "toolCall": {"kind": kind}, "options": options}
    send({"id": "p", "method": "session/request_permission", "params": params})
    chosen: str = received()["result"]["outcome"]["optionId"]
    return chosen


def answer(manner: str, session: str, prompt: str) -> None:
    TURNS[session].append(prompt)
    say(session, "I will look. ")
    told = SERVERS[-1].call("echo", {"n": len(TURNS[session])})
    update(session, sessionUpdate="tool_call", toolCallId="1", title="echo", kind="other")
    match manner:
        case "permission":
            say(session, f"{permitted(session, 'other')} {permitted(session, 'execute')}")
        case "files":
            send({"id": "f", "method": "fs/read_text_file", "params": {"path": "/etc/passwd"}})
            say(session, received()["error"]["message"])
        case _:
            say(session, f"{' / '.join(TURNS[session])}")
            say(session, f": {told}")


def main(manner: str) -> None:
    while True:
        asked = received()
        params = asked.get("params", {})
        match asked["method"]:
            case "initialize" if manner == "nonsense":
                sys.stdout.write("Welcome to the agent!\n")
                sys.stdout.flush()
            case "initialize":
                can = {"mcpCapabilities": {"http": manner != "no_http"}}
                send({"id": asked["id"], "result": {"agentCapabilities": can}})
            case "session/new" if manner == "login":
                error = {"code": -32000, "message": "Authentication required"}
                send({"id": asked["id"], "error": error})
            case "session/new":
                (server,) = params["mcpServers"]
                if manner == "no_http":
                    SERVERS.append(Piped(server))
                else:
                    os.environ["HARNESS_MCP_URL"] = server["url"]
                    SERVERS.append(Server())
                session = f"session-{len(TURNS) + 1}"
                TURNS[session] = []
                send({"id": asked["id"], "result": {"sessionId": session}})
            case "session/prompt":
                if manner == "die":
                    sys.exit("out of memory")
                session = params["sessionId"]
                answer(manner, session, params["prompt"][0]["text"])
                why = manner if manner in ("refusal", "max_tokens") else "end_turn"
                send({"id": asked["id"], "result": {"stopReason": why}})


if __name__ == "__main__":
    main(sys.argv[1])
