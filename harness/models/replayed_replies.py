"""``replay:RUN``: replays the recorded replies of a run with a live server.

A reply is found by the conversation before it: all messages of the user, the model and the tools. A
conversation that was never recorded is an error that shows where it differs from the recording.
"""

from __future__ import annotations

import difflib
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.base import ModelError, canonical_json, digest_json
from harness.runlog import RunLog, read_log
from harness.types import (
    AssistantMessage,
    Message,
    ModelSpec,
    Reply,
    ToolList,
    ToolMessage,
    UserMessage,
)

_SHOWN = 400
"""Most characters of a request that an error shows."""


class ReplayModel:
    """All trials of one recording."""

    def __init__(self, spec: ModelSpec) -> None:
        """Read the log whose path is ``spec.model_id``."""
        self._log = read_log(Path(spec.model_id))
        self._recorded = _index_by_label(self._log)

    def for_trial(self, label: str) -> _TrialRecording:
        """Return the recording of that trial only."""
        return _TrialRecording(label, self._find_transcripts(label))

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Answer from any trial of the recording."""
        # Without a label, any recorded conversation may be the one that goes on.
        everything = [step for label in self._recorded for step in self._find_transcripts(label)]
        return await _TrialRecording("any trial", everything).answer(conversation, tools, system)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    def _find_transcripts(self, label: str) -> list[Sequence[Message]]:
        found = (self._log.read_transcript(key) for key in self._recorded.get(label, ()))
        return [transcript.messages for transcript in found if transcript is not None]


class _TrialRecording:
    """The replies of one trial, by the conversation before each."""

    def __init__(self, label: str, conversations: Iterable[Sequence[Message]]) -> None:
        self._label = label
        self._replies: dict[str, deque[Reply]] = defaultdict(deque)
        self._requests: dict[int, list[str]] = defaultdict(list)
        for messages in conversations:
            begin = 0
            for place, message in enumerate(messages):
                # A new conversation: the model is sent nothing that stands before it.
                if isinstance(message, UserMessage) and message.fresh:
                    begin = place
                if isinstance(message, AssistantMessage):
                    self._replies[_make_key(messages[begin:place])].append(message.reply)
                    self._requests[place - begin].append(_normalise_message(messages[place - 1]))

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return the recorded reply to exactly this conversation; several are used in turn.

        Raises:
            ModelError: it was never recorded.
        """
        replies = self._replies.get(_make_key(conversation))
        if not replies:
            raise ModelError(self._never_recorded(conversation))
        # In turn and not taken out: a trial that is repeated more often begins again.
        replies.rotate(-1)
        return replies[-1]

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    def _never_recorded(self, conversation: Sequence[Message]) -> str:
        now = _normalise_message(conversation[-1])
        # Of the same length: only a request at that place can be the one that was meant.
        recorded = self._requests.get(len(conversation), [])
        if not recorded:
            return (
                f"the recording of {self._label} has no request after {len(conversation)} "
                f"messages: {now[:_SHOWN]}"
            )
        nearest = max(
            recorded,
            key=lambda words: difflib.SequenceMatcher(None, words[:_SHOWN], now[:_SHOWN]).ratio(),
        )
        return (
            f"this request was never recorded for {self._label}.\n"
            f"now:      {now[:_SHOWN]}\nrecorded: {nearest[:_SHOWN]}"
        )


def _index_by_label(log: RunLog) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = defaultdict(list)
    for result in log.results:
        if result.stop is not None:
            labels[f"{result.suite}::{result.case.name}#{result.trial}"].append(result.key)
    return labels


def _make_key(conversation: Sequence[Message]) -> str:
    return digest_json([_normalise_message(message) for message in conversation])


def _normalise_message(message: Message) -> str:
    """Return the messages without ids, times and costs, which differ from run to run."""
    if isinstance(message, UserMessage):
        return message.text
    if isinstance(message, ToolMessage):
        return canonical_json([answer.text for answer in message.answers])
    requests = [[request.tool, request.arguments] for request in message.reply.tool_requests]
    return canonical_json([message.reply.text, requests])
