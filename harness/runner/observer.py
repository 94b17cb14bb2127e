"""Observers of a run in progress: progress displays and live pages. Reports come from the log."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from harness.types import Transcript, Trial, TrialResult


class Observer(Protocol):
    """Is told of every trial, in order of events, on the event loop: it must not block."""

    def planned(self, total: int) -> None:
        """Take the number of trials that will end."""
        ...

    def started(self, trial: Trial) -> None:
        """Take a trial that starts."""
        ...

    def waiting(self, result: TrialResult) -> None:
        """Take a logged result whose status the suite's other identities may still change."""
        ...

    def finished(self, result: TrialResult) -> None:
        """Take a settled result, after it is in the log; every trial's comes once."""
        ...

    def note(self, text: str) -> None:
        """Take a message about the run as a whole."""
        ...


@runtime_checkable
class Listener(Protocol):
    """An observer that also wants to hear what is said while a trial goes on."""

    def said(self, trial: Trial, transcript: Transcript) -> None:
        """Take the transcript so far, after each reply and after its calls."""
        ...


class Silent:
    """An observer that does nothing."""

    def planned(self, total: int) -> None:
        """Ignore it."""

    def started(self, trial: Trial) -> None:
        """Ignore it."""

    def waiting(self, result: TrialResult) -> None:
        """Ignore it."""

    def finished(self, result: TrialResult) -> None:
        """Ignore it."""

    def note(self, text: str) -> None:
        """Ignore it."""
