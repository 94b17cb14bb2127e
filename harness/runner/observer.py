"""Observers of a run in progress: progress displays and live pages. Reports come from the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from harness.types import Transcript, Trial, TrialResult


class Observer:
    """Gets every event of a run in order, on the event loop, so it must not block.

    What a subclass does not override is ignored.
    """

    def on_planned(self, total: int) -> None:
        """Called with the number of trials that will end."""

    def on_subjects(self, names: Sequence[str]) -> None:
        """Called before that with the name of each subject: a model, with its variant if any."""

    def on_started(self, trial: Trial) -> None:
        """Called when a trial starts."""

    def on_waiting(self, result: TrialResult) -> None:
        """Called with a logged result whose status other identities may still change."""

    def on_finished(self, result: TrialResult) -> None:
        """Called once for each trial with its settled result, after it is in the log."""

    def on_note(self, text: str) -> None:
        """Called with a message about the run as a whole."""


@runtime_checkable
class TranscriptObserver(Protocol):
    """An observer that also gets the conversation while a trial is running."""

    def on_transcript(self, trial: Trial, transcript: Transcript) -> None:
        """Called with the transcript so far, after each reply and after its calls."""
        ...
