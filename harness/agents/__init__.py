"""Agents that others wrote: one file for each kind in `harness.agents.kinds`.

The harness starts an agent in a folder and a home of its own, and gives it a prompt and the
address of a recording proxy. The loop is the agent's; the record of its calls is made by the proxy.
To add a kind, write an `AgentKind` in a file of that folder, or under the entry-point group
``harness.agents``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.registry import Registry, members_in
from harness.types import UNKNOWN_USAGE, AgentSpec, Usage

if TYPE_CHECKING:
    from harness.agents.workplace import Workplace

AGENT = "agent"
"""`ModelSpec.provider` of every agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """What an agent said at the end of one turn."""

    text: str
    """Its answer; empty if it said nothing."""
    usage: Usage = UNKNOWN_USAGE
    """What the turn used, as far as the agent tells."""
    served_by: str | None = None
    """The model that it used, if it tells."""
    refused: bool = False
    """Whether it tells that its model refused to answer."""
    own_tools: Mapping[str, int] | None = None
    """Tools of its own by name, and how often it used each; ``None``: it does not tell."""


class Agent(Protocol):
    """An agent in one conversation."""

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return its answer to ``prompt``.

        The first ``ask`` begins a conversation, and so does a ``fresh`` one; others continue it.
        Cancelled, it leaves no process behind.

        Raises:
            AgentError: it could not be started, ended early, or said nothing that can be read.
        """
        ...


def _always(_spec: AgentSpec) -> bool:
    return True


def _never(_spec: AgentSpec) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKind:
    """One kind of agent: what is known of it before it is started."""

    opens: Callable[[AgentSpec, Workplace], AbstractAsyncContextManager[Agent]]
    """Opens an agent for one trial."""
    settings: tuple[str, ...]
    """The settings that its entries take, besides those that all take."""
    needs: tuple[str, ...] = ()
    """Those of them without which there is nothing to start."""
    program: str | None = None
    """Its usual program, which needs no configuration."""
    install: str | None = None
    """The command that installs that program."""
    version: tuple[str, ...] | None = None
    """Arguments with which the program tells its version; ``None``: it is not asked."""
    passes: tuple[str, ...] = ()
    """Variables of the environment that it gets if they are set: keys and addresses of models."""
    resumes: Callable[[AgentSpec], bool] = _never
    """Whether it can continue a conversation."""
    takes_system_prompt: Callable[[AgentSpec], bool] = _never
    """Whether it can be given a system prompt."""


can, cannot = _always, _never
"""For `AgentKind.resumes` and `AgentKind.takes_system_prompt`."""

KINDS: Registry[AgentKind] = Registry(
    "harness.agents",
    "type of agent",
    members_in(Path(__file__).with_name("kinds"), "harness.agents.kinds", "KIND"),
)
"""Name in a configuration → the kind."""
