"""Takes the place of a model in trials in which an agent answers."""

from __future__ import annotations

from collections.abc import Sequence

from harness.base import ModelError
from harness.types import Message, Reply, ToolList


class AgentModel:
    """A model that is never asked, because an agent runs its own loop.

    See `harness.runner.agents.conversation`.
    """

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Refuse.

        Raises:
            ModelError: always.
        """
        raise ModelError("an agent gives no single replies")

    async def aclose(self) -> None:
        """Do nothing: no resource is open."""
