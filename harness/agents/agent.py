"""External agents, one file for each kind in `harness.agents.kinds`.

The harness starts an agent in a folder and a home of its own, and gives it a prompt and the address
of a recording proxy. The agent runs its own loop; the proxy records its calls. To add a kind, write
an `AgentKind` in a file of that folder, or under the entry-point group ``harness.agents``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.base import Registry, find_members
from harness.types import UNKNOWN_USAGE, AgentSpec, Usage, dataclass

if TYPE_CHECKING:
    from harness.agents.workplace import Workplace

AGENT = "agent"
"""`ModelSpec.provider` of every agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """An agent's answer at the end of one turn."""

    text: str
    """The answer; empty if there is none."""
    usage: Usage = UNKNOWN_USAGE
    """The usage of the turn, as far as the agent reports it."""
    served_by: str | None = None
    """The model that it used, if it reports it."""
    refused: bool = False
    """Whether it reports that its model refused to answer."""
    own_tools: Mapping[str, int] | None = None
    """Its own tools by name, with the number of uses; ``None`` if it does not report them."""


class Agent(Protocol):
    """An agent in one conversation."""

    async def ask(self, prompt: str, *, fresh: bool) -> AgentReply:
        """Return its answer to ``prompt``.

        The first ``ask`` begins a conversation, and so does a ``fresh`` one; others continue it. A
        cancelled call leaves no process behind.

        Raises:
            AgentError: it could not be started, ended early, or gave no readable answer.
        """
        ...


def can(_spec: AgentSpec) -> bool:
    """Return true: a value for `AgentKind.resumes` and `AgentKind.takes_system_prompt`."""
    return True


def cannot(_spec: AgentSpec) -> bool:
    """Return false, likewise."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKind:
    """One kind of agent: the facts that are known before it is started."""

    opens: Callable[[AgentSpec, Workplace], AbstractAsyncContextManager[Agent]]
    """Opens an agent for one trial."""
    settings: tuple[str, ...]
    """The settings of its entries, besides the common ones."""
    needs: tuple[str, ...] = ()
    """The required settings."""
    program: str | None = None
    """Its usual program, which needs no configuration."""
    install: str | None = None
    """The command that installs that program."""
    version: tuple[str, ...] | None = None
    """Arguments with which the program prints its version; ``None`` if it has none."""
    passes: tuple[str, ...] = ()
    """Variables of the environment that it gets if they are set: keys and addresses of models."""
    resumes: Callable[[AgentSpec], bool] = cannot
    """Whether it can continue a conversation."""
    takes_system_prompt: Callable[[AgentSpec], bool] = cannot
    """Whether it accepts a system prompt."""


KINDS: Registry[AgentKind] = Registry(
    "harness.agents",
    "type of agent",
    find_members(Path(__file__).with_name("kinds"), "harness.agents.kinds", "KIND"),
)
"""Name in a configuration → the kind."""
