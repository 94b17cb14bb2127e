"""The model under test, as a conversation sees it.

Each of its calls has an id of its own, and what it did wrong is a reply.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.base import ModelError
from harness.models import CallIds, Model, restore_ids
from harness.types import Message, Reply, ToolList, ToolMessage


class ModelUnderTest:
    """A model in one conversation."""

    def __init__(self, model: Model) -> None:
        """Ask ``model``."""
        self._model = model
        self._ids = CallIds()
        self._given_ids: dict[str, str] = {}  # our id of a call → the model's, where it is another

    async def ask_model(
        self, seen: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the reply to ``seen``, also where it is known only by the error of its API.

        Raises:
            ModelError: there is no reply, and that is not the model's doing.
        """
        try:
            reply = await self._model.answer(restore_ids(seen, self._given_ids), tools, system)
        except ModelError as error:
            # What is too long before any result came from the prompt and the list of tools.
            grown = any(isinstance(message, ToolMessage) for message in seen)
            if error.stop is None or (error.stop == "context_limit" and not grown):
                raise
            return Reply(
                stop=error.stop,
                stop_detail=str(error),
                usage=error.usage,
                attempts=error.attempts,
                waited_s=error.waited_s,
            )
        # Some APIs give calls no id or the same one; each still gets its own ids back.
        own = self._ids.take_all(reply)
        pairs = zip(own.tool_requests, reply.tool_requests, strict=True)
        self._given_ids |= {ours.id: its.id for ours, its in pairs if ours.id != its.id}
        return own
