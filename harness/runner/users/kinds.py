"""Users played by a model, by a script, or by a program."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.base import HarnessError, ModelError
from harness.models import Model
from harness.runner.users.guidelines import system_prompt
from harness.types import (
    AssistantMessage,
    Message,
    Reply,
    SimulatedUser,
    ToolList,
    Usage,
    UserMessage,
)

NO_TOOLS = ToolList(tools=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One message of a user."""

    text: str
    """Its text."""
    usage: Usage = field(default_factory=Usage)
    """Tokens and cost of the message."""
    waited_s: float = 0.0
    """Seconds spent waiting because of rate limits."""


class ModelUser:
    """A user played by a model, which sees the conversation with the roles swapped."""

    def __init__(self, user: SimulatedUser, model: Model) -> None:
        """Let ``model`` play ``user``."""
        self._model = model
        self._system = system_prompt(user.scenario, user.guidelines)
        self._first = user.first_message
        self._side: list[Message] = []

    async def next_message(self, heard: str) -> Utterance | None:
        """Ask the model for the user's next message."""
        self._side.append(UserMessage(text=heard))
        # In its own history, so that the model knows what it is meant to have said.
        if self._first is not None:
            reply, self._first = Reply(text=self._first), None
            self._side.append(AssistantMessage(reply=reply))
            return Utterance(text=reply.text)
        try:
            reply = await self._model.answer(self._side, NO_TOOLS, self._system)
        # Told apart by its words from an error of the tested model.
        except ModelError as error:
            words, waited_s = f"the simulated user: {error}", error.waited_s
            raise ModelError(
                words, kind=error.kind, waited_s=waited_s, usage=error.usage
            ) from error
        if not reply.text.strip():
            why = ": the reply holds only thinking" if reply.only_thinking else ""
            raise ModelError(
                f"the simulated user said nothing{why}", waited_s=reply.waited_s, usage=reply.usage
            )
        self._side.append(AssistantMessage(reply=reply))
        return Utterance(text=reply.text, usage=reply.usage, waited_s=reply.waited_s)


class ScriptedUser:
    """A user with scripted messages, which do not depend on the answers."""

    def __init__(self, lines: Sequence[str]) -> None:
        """The user's messages, in order."""
        self._lines = iter(lines)

    async def next_message(self, heard: str) -> Utterance | None:
        """Return the next line."""
        line = next(self._lines, None)
        return None if line is None else Utterance(text=line)


class CodeUser:
    """A user played by a program."""

    def __init__(self, user: SimulatedUser) -> None:
        """Let ``user.code`` play ``user``."""
        self._user = user
        self._side: list[Message] = []

    async def next_message(self, heard: str) -> Utterance | None:
        """Ask the program, which gets the whole conversation from the user's side."""
        self._side.append(UserMessage(text=heard))
        said: Any = self._user.first_message if len(self._side) == 1 else None
        if said is None:
            try:
                said = self._user.code(tuple(self._side))
                said = await said if inspect.isawaitable(said) else said
            except HarnessError:
                raise
            except Exception as error:  # any exception of a suite's own code becomes a message
                raise HarnessError(
                    f"the simulated user's program raised {type(error).__name__}: {error}"
                ) from error
        if said is None:
            return None
        if not isinstance(said, str):
            raise HarnessError(
                f"the simulated user must return text or None, but returned {type(said).__name__}"
            )
        reply = Reply(text=said)  # the program may hand on what a model thought
        self._side.append(AssistantMessage(reply=reply))
        return Utterance(text=reply.text)
