"""Servers that may ask an agent, as it would let them if it reached them itself."""

from __future__ import annotations

from harness.types import AgentSpec, ServerSpec


class AskingServers:
    """The servers of a run as agents are given them, each made once."""

    def __init__(self) -> None:
        """Begin with none."""
        self._made: dict[tuple[int, tuple[str, ...]], tuple[ServerSpec, ServerSpec]] = {}

    def of(self, server: ServerSpec, agent: AgentSpec | None) -> ServerSpec:
        """Return ``server`` as it is told what ``agent`` can do; unchanged for a model.

        Equal objects for equal ones: the pool of sessions keeps what belongs to each.
        """
        if agent is None or not agent.client_can:
            return server
        key = id(server), agent.client_can
        if key not in self._made:  # the server is kept alive, so that its id is not reused
            self._made[key] = server, server.with_abilities(agent.client_can)
        return self._made[key][1]
