"""Servers for agents: a server may send requests to an agent, as with a direct connection."""

from __future__ import annotations

from harness.types import AgentSpec, ServerSpec


class AgentServers:
    """The servers of a run with the capabilities of agents, each made once."""

    def __init__(self) -> None:
        """Start without servers."""
        self._made: dict[tuple[int, tuple[str, ...]], tuple[ServerSpec, ServerSpec]] = {}

    def get_server(self, server: ServerSpec, agent: AgentSpec | None) -> ServerSpec:
        """Return ``server`` with the client capabilities of ``agent``; unchanged for a model.

        Equal arguments return the same object, because the session pool keeps data for each.
        """
        if agent is None or not agent.client_can:
            return server
        key = id(server), agent.client_can
        if key not in self._made:  # the server is kept alive, so that its id() is not reused
            self._made[key] = server, server.with_abilities(agent.client_can)
        return self._made[key][1]
