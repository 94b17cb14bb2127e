"""What came and went in the list of tools of a trial, in its place among the replies."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from harness.runlog import RunLog
from harness.types import ListChange, Transcript


def find_changes(log: RunLog, transcript: Transcript) -> deque[ListChange]:
    """Return the changes of the list that the trial of ``transcript`` was offered, in order."""
    tools = log.tools.get(transcript.tools_digest)
    return deque(() if tools is None else tools.changes)


def take_changes(changes: deque[ListChange], replies: int) -> Iterator[ListChange]:
    """Remove from ``changes`` and yield those that came before the reply after ``replies``."""
    while changes and changes[0].reply <= replies:
        yield changes.popleft()
