# harness/models/providers/echo.py
"""A model that says what it was asked."""

from __future__ import annotations

from collections.abc import Sequence

from harness.models.model import Dialect, Provider
from harness.types import Message, ModelSpec, Reply, ToolList, UserMessage


class EchoModel:
    """Answers with the last words of the user."""

    def __init__(self, spec: ModelSpec) -> None:
        """Nothing has to be prepared."""

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the model's next reply; see `harness.models.Model`."""
        said = [message.text for message in conversation if isinstance(message, UserMessage)]
        return Reply(text=said[-1])

    async def aclose(self) -> None:
        """Nothing is held open."""


PROVIDER = Provider(
    opens=EchoModel,
    aliases=("parrot",),
    dialect=Dialect(provider="Echo", longest_name=6, refused=()),
    prices={"any": (1.0, 1.0)},
)
"""``type: echo``."""
