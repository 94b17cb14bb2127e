"""Agents that others wrote, as subjects of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.types.basics import JsonObject, Location

CLIENT_CAN = ("elicitation",)
"""What a client can be asked for where nothing says otherwise: Claude Code and Codex say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """How an agent is started: what makes a `ModelSpec` an agent."""

    kind: str
    """A name in `harness.agents.KINDS`: ``command``, ``claude-code`` …"""
    command: tuple[str, ...] = field(default=(), repr=False)
    """The program and its first arguments; they may hold secrets. Empty for a kind that needs none.
    """
    args: tuple[str, ...] = field(default=(), repr=False)
    """Further arguments, behind those of the driver; they may hold secrets."""
    function: str | None = None
    """``python`` only: ``module:function``."""
    model: str | None = None
    """The model that it uses; ``None`` leaves it to the agent."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to the few that it gets; values may be secrets."""
    tools: tuple[str, ...] = ()
    """Tools of its own that it may use; by default none, as far as its kind can switch them off."""
    client_can: tuple[str, ...] = CLIENT_CAN
    """What a server of the handshake is told that the agent can be asked for."""
    settings: JsonObject = field(default_factory=dict, repr=False)
    """Further settings in the agent's own words, for its configuration file; may hold secrets."""
    files: str | None = None
    """A folder that is copied into the working folder of each trial."""
    home: str | None = None
    """A folder that is copied into the home of each trial."""
    max_output_mb: float = 10.0
    """Megabytes (10^6 bytes) that it may write on stdout in one turn."""
    base: str = ""
    """The folder that relative paths of `command`, `files` and `home` start from; absolute."""
    deeds: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """What its file would run, in words, references unexpanded: for `harness.base.trust`."""
    at: Location | None = None
    """Where it is configured."""
    version: str | None = None
    """What the program says of its version; ``None`` until a run starts, or if it does not say."""
    program_digest: str | None = None
    """SHA-256 of the files that `command` and `function` name; ``None`` until a run starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """What is known of an agent's conduct in a trial besides its calls of the server."""

    own_tools: Mapping[str, int] | None = None
    """Tools of its own by name, and how often it used each, as far as it tells; ``None``: it does
    not tell. What they did is not seen."""
    refused_requests: int = 0
    """Requests to the server's address without the token of the session; they were refused."""
