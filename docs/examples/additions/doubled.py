# harness/agents/kinds/doubled.py
"""A command that is asked everything twice."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from harness.agents.agent import Agent, AgentKind, AgentReply
from harness.agents.program import run_program
from harness.agents.workplace import Workplace, resolve_agent_command
from harness.types import AgentSpec


class DoubledAgent:
    """Writes the prompt twice on the command's stdin."""

    def __init__(self, spec: AgentSpec, place: Workplace) -> None:
        """Run the command of ``spec`` in ``place``."""
        self._spec = spec
        self._place = place

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return its answer; see `harness.agents.Agent`."""
        done = await run_program(
            resolve_agent_command(self._spec), self._place, f"{prompt} {prompt}"
        )
        if done.code:
            raise done.build_error()
        return AgentReply(text=done.out)


@asynccontextmanager
async def open_agent(spec: AgentSpec, place: Workplace) -> AsyncGenerator[Agent]:
    """Open it for one trial."""
    yield DoubledAgent(spec, place)


KIND = AgentKind(opens=open_agent, settings=("command",), needs=("command",))
"""``type: doubled``."""
