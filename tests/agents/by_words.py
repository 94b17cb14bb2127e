"""An agent that calls the tool which speaks of a word: ``python by_words.py WORD PROMPT``."""

from __future__ import annotations

import sys

from tests.agents.agent import Server


def main(word: str) -> None:
    server = Server()
    tools = server.ask("tools/list", {})["result"]["tools"]
    fitting = [one["name"] for one in tools if word in (one.get("description") or "")]
    sys.stdout.write(server.call((fitting or [tools[-1]["name"]])[0], {}))


if __name__ == "__main__":
    main(sys.argv[1])
