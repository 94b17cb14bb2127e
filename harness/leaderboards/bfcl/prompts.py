"""The turns of a case, from its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.leaderboards.bfcl.data import BfclEntry

MORE_FUNCTIONS = "I have updated some more functions you can choose from. What about now?"
"""The user's message where the data has none and a missing function is added."""


def build_prompts(entry: BfclEntry) -> tuple[str, ...]:
    """Return the texts of the user's turns."""
    return tuple(_join_messages(messages) for messages in entry.question["question"])


def build_system_prompt(entry: BfclEntry) -> str | None:
    """Return the system prompt of the case."""
    first: Sequence[dict[str, Any]] = entry.question["question"][0]
    said = [message["content"] for message in first if message["role"] == "system"]
    return "\n\n".join(said) or None


def _join_messages(messages: Sequence[dict[str, Any]]) -> str:
    """Return one turn as one message.

    A few cases have an earlier conversation; the message quotes it as a record.
    """
    spoken = [message for message in messages if message["role"] != "system"]
    if not spoken:
        return MORE_FUNCTIONS
    if all(message["role"] == "user" for message in spoken):
        return "\n\n".join(message["content"] for message in spoken)
    *earlier, last = spoken
    record = "\n\n".join(f"[{message['role']}] {message['content']}" for message in earlier)
    return f"Our conversation so far:\n\n{record}\n\n[user] {last['content']}"
