"""A Python function ``async (prompt, mcp_url) -> answer``. ``type: python``.

It runs in a process of its own, which can be ended and has nothing of the user's environment.
``command`` names another interpreter than the one that runs harness.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from harness.agents.agent import Agent, AgentKind, AgentReply
from harness.agents.program import parse_json_lines, parse_token_count, run_program
from harness.agents.workplace import Workplace, resolve_agent_command
from harness.types import UNKNOWN_USAGE, AgentSpec

_SCRIPT = Path(__file__).parents[1] / "function_script.py"


class PythonFunction:
    """A function that is called once for each conversation."""

    def __init__(self, spec: AgentSpec, place: Workplace) -> None:
        """Call the function of ``spec``."""
        self._spec = spec
        self._place = place

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return what the function returns for ``prompt``; see `harness.agents.Agent`."""
        interpreter = resolve_agent_command(self._spec) or (sys.executable,)
        command = [*interpreter, *self._spec.args, str(_SCRIPT), self._spec.function or ""]
        asked = json.dumps({"prompt": prompt, "mcp_url": self._place.url})
        done = await run_program(command, self._place, asked)
        if done.code:
            # The last line of a traceback says what went wrong.
            *_, last = (None, *done.stderr.strip().splitlines())
            raise done.build_error(last)
        told = list(parse_json_lines(done))[-1]
        cost = told.get("cost_usd")
        known = replace(
            UNKNOWN_USAGE,
            input_tokens=parse_token_count(told.get("input_tokens")),
            output_tokens=parse_token_count(told.get("output_tokens")),
            cost_usd=float(cost) if isinstance(cost, int | float) else None,
        )
        return AgentReply(
            text=str(told.get("answer") or ""),
            usage=known if known.tokens is not None or cost is not None else UNKNOWN_USAGE,
        )


@asynccontextmanager
async def open_agent(spec: AgentSpec, place: Workplace) -> AsyncGenerator[Agent]:
    """Open a function for one trial; modules of the user's folder can be imported."""
    path = [spec.base, *filter(None, [spec.env.get("PYTHONPATH")])]
    place.env["PYTHONPATH"] = os.pathsep.join(path)
    yield PythonFunction(spec, place)


KIND = AgentKind(opens=open_agent, settings=("function",), needs=("function",))
"""``type: python``."""
