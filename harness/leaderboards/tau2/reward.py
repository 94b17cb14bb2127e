"""The leaderboard's rules: a reward of 0 or 1, the product of the task's ``reward_basis``.

Each component is a check (`harness.leaderboards.tau2.checks`), and a trial passes where the reward
is 1.

Component: 1 if:

- ``DB``: the database has the digest of one on which the gold actions were carried out
- ``COMMUNICATE``: each wanted text, in lower case, is part of a message of the agent, lower and
  without ``,``
- ``ACTION``: each gold action has the name of some call and the same compared arguments
- ``NL_ASSERTION``: a judge finds all assertions met

A conversation that neither the user nor the agent ended has a reward of 0: it ended by a limit or
an error, and never passes. This module has the rules that need only the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.leaderboards.tau2.tasks import Action
from harness.types import AssistantMessage, ToolRequest, Transcript


def list_agent_texts(transcript: Transcript) -> list[str]:
    """Return every text of the agent, including the greeting and texts beside calls."""
    replies = (
        message.reply.text
        for message in transcript.messages
        if isinstance(message, AssistantMessage)
    )
    return [text for text in (transcript.greeting, *replies) if text]


def list_requested_calls(transcript: Transcript) -> list[ToolRequest]:
    """Return every call that the agent asked for."""
    replies = (
        message.reply for message in transcript.messages if isinstance(message, AssistantMessage)
    )
    return [request for reply in replies for request in reply.tool_requests]


def is_communicated(wanted: str, texts: Sequence[str]) -> bool:
    """Whether ``wanted`` is part of one of ``texts``.

    Commas in ``wanted`` are kept, so a text with commas never matches.
    """
    return any(wanted.lower() in text.lower().replace(",", "") for text in texts)


def matches_action(action: Action, call: ToolRequest) -> bool:
    """Whether ``call`` has the name of the gold action and the same compared arguments.

    Without ``compare_args``, the call's own arguments are compared: an extra one is wrong, a
    missing one is not.
    """
    if action.name != call.tool:
        return False
    compared = call.arguments.keys() if action.compare_args is None else action.compare_args
    return {key: value for key, value in call.arguments.items() if key in compared} == {
        key: value for key, value in action.arguments.items() if key in compared
    }


def is_called(action: Action, calls: Sequence[ToolRequest]) -> bool:
    """Whether any of ``calls`` is the gold action."""
    return any(matches_action(action, call) for call in calls)
