"""Simulated users, who talk with the model under test instead of scripted turns.

A `Speaker` gets only the text of the model's answers, never a tool, a call or a result.
`build_speaker` returns a new one for each trial; `find_ending` decides whether a message ends the
conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from harness.base import HarnessError
from harness.models import Model, PerTrialModel
from harness.runner.users.kinds import CodeUser, ModelUser, ScriptedUser, Utterance
from harness.runner.users.recorded_users import RecordedUsers
from harness.types import SimulatedUser, Stop, ToolCall


class Speaker(Protocol):
    """One user in one conversation."""

    async def next_message(self, heard: str) -> Utterance | None:
        """Return the user's next message after ``heard``; ``None`` if they stop.

        Raises:
            ModelError: the model that plays the user failed.
            HarnessError: the program that plays the user failed.
        """
        ...


def build_speaker(
    user: SimulatedUser, played_by: Model | RecordedUsers | None, label: str
) -> Speaker:
    """Return the speaker of ``user`` in the trial ``label`` (``suite::case#repeat``).

    Raises:
        HarnessError: no model is named to play the user.
    """
    if isinstance(played_by, RecordedUsers):
        return played_by.get_user(label)
    if user.code is not None:
        return CodeUser(user)
    if user.script:
        return ScriptedUser(user.script)
    if played_by is None:
        raise HarnessError(
            "no model is named to play the simulated user: name one with --user-model"
        )
    return ModelUser(
        user, played_by.for_trial(label) if isinstance(played_by, PerTrialModel) else played_by
    )


def find_ending(user: SimulatedUser, said: str) -> Stop | None:
    """Return how the user's message ends the conversation, if it does."""
    if any(mark in said for mark in user.transfer_when):
        return "transfer"
    return "user_stop" if any(mark in said for mark in user.stop_when) else None


def find_agent_ending(user: SimulatedUser, answer: str, calls: Iterable[ToolCall]) -> Stop | None:
    """Return how the model ended the conversation, by its ``answer`` or the ``calls`` before it."""
    # A transfer that failed has handed nobody over.
    if any(call.tool in user.transfer_when and not call.is_error for call in calls):
        return "transfer"
    return "agent_stop" if any(mark in answer for mark in user.agent_stop_when) else None
