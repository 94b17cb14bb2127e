"""Who talks with the model under test, where a case does not write down what they say.

A `Speaker` hears what the model under test answers, in text alone: no tool, no call and no result
ever reaches it. `speaker` gives the one that a case asks for, new for each trial; `ending` tells
whether a message ends the conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from harness.errors import HarnessError
from harness.models import Model, PerTrial
from harness.types import SimulatedUser, Stop, ToolCall
from harness.users.kinds import CodeUser, ModelUser, ScriptedUser, Utterance
from harness.users.replayed import RecordedUsers


class Speaker(Protocol):
    """One user in one conversation."""

    async def speak(self, heard: str) -> Utterance | None:
        """Return what they say to ``heard``; ``None`` when they have nothing more to say.

        Raises:
            ModelError: they cannot be played.
            HarnessError: the program that plays them is at fault.
        """
        ...


def speaker(user: SimulatedUser, played_by: Model | RecordedUsers | None, label: str) -> Speaker:
    """Return who plays ``user`` in the trial called ``label`` (``suite::case#repeat``).

    Raises:
        HarnessError: nobody does.
    """
    if isinstance(played_by, RecordedUsers):
        return played_by.speaker(label)
    if user.code is not None:
        return CodeUser(user)
    if user.script:
        return ScriptedUser(user.script)
    if played_by is None:
        raise HarnessError(
            "there is nobody to play the simulated user: name a model with --user-model"
        )
    return ModelUser(
        user, played_by.for_trial(label) if isinstance(played_by, PerTrial) else played_by
    )


def ending(user: SimulatedUser, said: str) -> Stop | None:
    """Return how the user's message ``said`` ends the conversation, if it does."""
    if any(mark in said for mark in user.transfer_when):
        return "transfer"
    return "user_stop" if any(mark in said for mark in user.stop_when) else None


def ended_by_agent(user: SimulatedUser, answer: str, calls: Iterable[ToolCall]) -> Stop | None:
    """Return how the model under test ended the conversation by its ``answer``, or by the ``calls`` that led to it."""
    if any(call.tool in user.transfer_when and not call.is_error for call in calls):
        return "transfer"
    return "agent_stop" if any(mark in answer for mark in user.agent_stop_when) else None
