"""Any command: it gets the prompt, and its stdout is the answer. ``type: command``.

The prompt replaces ``{prompt}`` in its arguments, or is written on its stdin if none of them has
it. ``{mcp_url}`` is the address of the server, ``{mcp_config}`` a file with ``mcpServers``, and
``{mcp_config_stdio}`` one for clients that only start processes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from harness.agents.agent import Agent, AgentKind, AgentReply
from harness.agents.program import run_program
from harness.agents.workplace import Workplace, resolve_agent_command
from harness.types import AgentSpec

_SYSTEM = "{system_prompt}"


class CommandAgent:
    """A command that is run once for each conversation."""

    def __init__(self, spec: AgentSpec, place: Workplace) -> None:
        """Run the command of ``spec`` in ``place``."""
        self._command = (*resolve_agent_command(spec), *spec.args)
        self._place = place

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return the command's answer to ``prompt``; see `harness.agents.Agent`."""
        command = self._place.fill_words(self._command, prompt)
        given = any("{prompt}" in word for word in self._command)
        done = await run_program(command, self._place, "" if given else prompt)
        if done.code:
            raise done.build_error()
        return AgentReply(text=done.out.strip())


@asynccontextmanager
async def open_agent(spec: AgentSpec, place: Workplace) -> AsyncGenerator[Agent]:
    """Open a command for one trial."""
    yield CommandAgent(spec, place)


def _takes_system_prompt(spec: AgentSpec) -> bool:
    return any(_SYSTEM in word for word in (*spec.command, *spec.args))


KIND = AgentKind(
    opens=open_agent,
    settings=("command",),
    needs=("command",),
    takes_system_prompt=_takes_system_prompt,
)
"""``type: command``."""
