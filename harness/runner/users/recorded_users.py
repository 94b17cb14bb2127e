"""Users who repeat their messages from a recorded run."""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path

from harness.base import ModelError
from harness.runlog import read_log
from harness.runner.users.kinds import Utterance
from harness.types import Stop, Transcript, UserMessage

_THEIR_ENDS: tuple[Stop, ...] = ("user_stop", "transfer")


class RecordedUsers:
    """All simulated users of one recorded run."""

    def __init__(self, log: Path) -> None:
        """Read the run whose log is ``log``."""
        self._log = read_log(log)
        self._keys: dict[str, deque[str]] = defaultdict(deque)
        for result in self._log.results:
            # A trial that was never started has no messages to repeat.
            if result.stop is not None:
                self._keys[f"{result.suite}::{result.case.name}#{result.trial}"].append(result.key)

    def get_user(self, label: str) -> RecordedUser:
        """Return the user of the trial ``label``; with several models, one for each in turn."""
        keys = self._keys.get(label)
        transcript = self._log.read_transcript(keys[0]) if keys else None
        if keys:
            keys.rotate(-1)
        return RecordedUser(label, transcript or Transcript())


class RecordedUser:
    """The user of one recorded trial."""

    def __init__(self, label: str, transcript: Transcript) -> None:
        """Repeat the user's messages in ``transcript``."""
        said = (one for one in transcript.messages if isinstance(one, UserMessage))
        # What the case itself said meanwhile comes from the case again.
        lines = [message.text for message in said if not message.injected]
        self._label = label
        self._count = len(lines)
        self._lines = iter(lines)
        self._ended = transcript.stop in _THEIR_ENDS

    async def next_message(self, heard: str) -> Utterance | None:
        """Return the next recorded message.

        Raises:
            ModelError: no message is left, but the recorded user had not stopped.
        """
        line = next(self._lines, None)
        if line is not None:
            return Utterance(text=line)
        if self._ended:
            return None
        raise ModelError(
            f"the simulated user: the recording of {self._label} has only "
            f"{self._count} messages of this user"
        )
