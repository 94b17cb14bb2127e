"""An agent without any SDK, for `type: command`: ``python agent.py MANNER PROMPT [MARKER]``.

``use`` calls a tool and says what it was told, ``loop`` lets the model at ``$MODEL_URL`` decide.
The other manners are those of agents that do not work, or do harm.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "agent", "version": "1"},
}


def posted(url: str, body: Any, **headers: str) -> tuple[str, Any]:
    accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with urlopen(Request(url, json.dumps(body).encode(), {**accepted, **headers})) as answer:
        return answer.read().decode(), answer.headers


class Server:
    def __init__(self) -> None:
        self.session: dict[str, str] = {}
        self.ask("initialize", HELLO)
        self.ask("notifications/initialized", {})

    def ask(self, method: str, params: Any) -> Any:
        number = {} if method.startswith("notifications/") else {"id": 1}
        message = {"jsonrpc": "2.0", "method": method, "params": params, **number}
        text, headers = posted(os.environ["HARNESS_MCP_URL"], message, **self.session)
        if headers["Mcp-Session-Id"]:
            self.session["Mcp-Session-Id"] = headers["Mcp-Session-Id"]
        data = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
        return json.loads((data or [text])[-1]) if number else None

    def call(self, tool: str, arguments: Any) -> str:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            return f"Error: {answer['error']['message']}"
        texts = [part.get("text", "") for part in answer["result"]["content"]]
        return "\n".join(texts)


def use(prompt: str) -> None:
    server = Server()
    tools = [tool["name"] for tool in server.ask("tools/list", {})["result"]["tools"]]
    told = server.call("echo" if "echo" in tools else tools[0], {"n": 1})
    print(f"{prompt} {told} {' '.join(tools)}")


def stdin(_: str) -> None:
    use(sys.stdin.read())


def renamed(prompt: str) -> None:
    """Call the tool that has a name of its own here."""
    server = Server()
    tools = [tool["name"] for tool in server.ask("tools/list", {})["result"]["tools"]]
    print(f"{prompt} {server.call('say_it_again', {'n': 1})} {' '.join(tools)}")


def read_errors(_: str) -> None:
    """Do what an error says."""
    server = Server()
    told = server.call("find_customer", {"name": "ada"})
    if "capitals" in told:
        told = server.call("find_customer", {"name": "ADA"})
    print(told if "C1" in told else "I could not find her.")


def loop(prompt: str) -> None:
    server = Server()
    tools = [
        {
            "type": "function",
            "function": {"name": one["name"], "parameters": one["inputSchema"]},
        }
        for one in server.ask("tools/list", {})["result"]["tools"]
    ]
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        body = {"model": "m", "messages": messages, "tools": tools}
        text, _ = posted(os.environ["MODEL_URL"], body, Authorization="Bearer test-key")
        said = json.loads(text)["choices"][0]["message"]
        messages.append(said)
        if not said.get("tool_calls"):
            print(said["content"])
            return
        for call in said["tool_calls"]:
            asked = call["function"]
            told = server.call(asked["name"], json.loads(asked["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})


def sleeper(marker: str) -> list[str]:
    return [sys.executable, "-c", "import time; time.sleep(600)", marker]


def fork(_: str) -> None:
    """Start a process in a session of its own, that has this one's pipes; orphan another one."""
    subprocess.Popen(sleeper(sys.argv[3]), start_new_session=True)
    again = f"import subprocess; subprocess.Popen({sleeper(sys.argv[3])!r}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", again], check=True)
    use("forked")


def hang(_: str) -> None:
    subprocess.Popen(sleeper(sys.argv[3]), start_new_session=True)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(600)


def hang_after_a_call(_: str) -> None:
    Server().call("echo", {"n": 1})
    hang(_)


def flood(_: str) -> None:
    Server().ask("tools/list", {})
    while True:
        sys.stdout.write("x" * 65_536)


def die(_: str) -> None:
    Server().call("echo", {"n": 1})
    sys.stderr.write("the last words of the agent\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def fail(_: str) -> None:
    sys.exit("no key was given")


def idle(_: str) -> None:
    print("New York, as everybody knows.")


def mute(_: str) -> None:
    Server().call("echo", {"n": 1})


def guess(prompt: str) -> None:
    """Ask for the session without its token, then use it."""
    where = urlsplit(os.environ["HARNESS_MCP_URL"])
    for path in ("/mcp", "/guess/mcp"):
        try:
            posted(f"http://{where.netloc}{path}", {})
        except HTTPError as error:
            print(error.code)
    use(prompt)


def calls(_: str) -> None:
    server = Server()
    for _number in range(1000):
        server.call("echo", {"n": 1})


def look_around(_: str) -> None:
    """Say what it finds: variables, home, folder, stdin."""
    Server().ask("tools/list", {})
    home = Path(os.environ["HOME"])
    facts = {
        "env": dict(os.environ),
        "home": sorted(one.name for one in home.iterdir()),
        "files": sorted(one.name for one in Path.cwd().iterdir()),
        "folder": str(Path.cwd()),
        "stdin": sys.stdin.read(),
    }
    Path("left.txt").write_text("behind")
    Path("locked").mkdir()
    Path("locked/left.txt").write_text("behind")
    Path("locked").chmod(0)
    print(json.dumps(facts))


if __name__ == "__main__":
    globals()[sys.argv[1]](*(sys.argv[2:3] or [""]))
